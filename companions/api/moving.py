from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts import shares
from accounts.idempotency import once
from accounts.rates import admit_to
from companions.api.finding import my_companion, person
from companions.api.parameters import IdempotencyKey
from companions.models import Companion
from companions.moving import digital_life
from companions.moving.exporting import export
from companions.schemas import CompanionOut

router = Router(tags=["moving"])
Out = dict[str, Any]


@router.get(
    "/{uuid:companion_id}/export",
    operation_id="export_companion",
    summary="Everything of it, as a JSON file",
    openapi_extra={"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}},
)
def export_companion(request: HttpRequest, companion_id: UUID) -> StreamingHttpResponse:
    return exported(my_companion(request, companion_id))


@router.get(
    "/{uuid:companion_id}/export/digital-life",
    operation_id="export_digital_life",
    response=dict[str, Any],
    summary="Its memory as DigitalLife's eight fields",
)
def export_digital_life(request: HttpRequest, companion_id: UUID) -> dict[str, Any]:
    return digital_life.written(my_companion(request, companion_id))


class MovedOut(Schema):
    companion: CompanionOut
    messages: int
    diary: int
    ignored: list[str] = Field(description="The first twenty fields that DigitalLife does not have.")


@router.post(
    "/import/digital-life",
    operation_id="import_digital_life",
    response={201: MovedOut},
    summary="Make a companion of DigitalLife's eight fields: as JSON, or as a file",
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": {"type": "object"}},
                "multipart/form-data": {
                    "schema": {
                        "type": "object",
                        "properties": {"file": {"type": "string", "format": "binary"}},
                    }
                },
            },
        }
    },
)
def import_digital_life(request: HttpRequest, key: IdempotencyKey = None) -> Status[Out]:
    body = given(request)
    mind = digital_life.read(body)

    def make() -> UUID:
        admit_to(person(request), "imports", timezone.now())
        return digital_life.move_in(person(request), mind, timezone.now()).pk

    made_id, _ = once(person(request), "import_digital_life", key, body, make)
    return Status(201, _moved_out(my_companion(request, made_id), mind))


def _moved_out(companion: Companion, mind: digital_life.Mind) -> Out:
    return {
        "companion": companion,
        "messages": mind.messages,
        "diary": len(mind.longTermMemory),
        "ignored": digital_life.ignored(mind),
    }


def given(request: HttpRequest) -> bytes:
    """The body, or the file in it. MovingError where it is too long to be read."""
    file = request.FILES.get("file")
    try:
        size = file.size or 0 if isinstance(file, UploadedFile) else len(request.body)
    except RequestDataTooBig:
        size = digital_life.MOST_BYTES + 1
    if size > digital_life.MOST_BYTES:
        raise digital_life.too_large()
    return file.read() if isinstance(file, UploadedFile) else request.body


def exported(companion: Companion) -> StreamingHttpResponse:
    """The companion as a file to be kept."""
    async_to_sync(shares.take)("exports")
    now = timezone.now()
    response = StreamingHttpResponse(export(companion, now), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="kith-{companion.pk}-{now:%Y-%m-%d}.json"'
    response["Cache-Control"] = "private, no-store"
    return response
