from typing import Any
from uuid import UUID

from django.http import StreamingHttpResponse
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import once
from accounts.rates import admit_to
from companions.access import get_companion
from companions.api.schemas import CompanionOut, IdempotencyKey
from companions.models import Companion
from companions.transfer import digital_life
from companions.transfer.archive import export_response, read_upload
from companions.transfer.digital_life_export import export_mind
from companions.transfer.digital_life_import import import_mind

router = Router(tags=["moving"])
Out = dict[str, Any]


@router.get(
    "/{uuid:companion_id}/export",
    operation_id="export_companion",
    summary="Everything of it, as a JSON file",
    openapi_extra={"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}},
)
def export_companion(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return export_response(get_companion(request.user, companion_id))


@router.get(
    "/{uuid:companion_id}/export/digital-life",
    operation_id="export_digital_life",
    response=dict[str, Any],
    summary="Its memory as DigitalLife's eight fields",
)
def export_digital_life(request: SignedInRequest, companion_id: UUID) -> dict[str, Any]:
    return export_mind(get_companion(request.user, companion_id))


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
def import_digital_life(request: SignedInRequest, key: IdempotencyKey = None) -> Status[Out]:
    body = read_upload(request)
    mind = digital_life.parse_mind(body)

    def make() -> UUID:
        admit_to(request.user, "imports", timezone.now())
        return import_mind(request.user, mind, timezone.now()).pk

    made_id, _ = once(request.user, "import_digital_life", key, body, make)
    return Status(201, _moved_out(get_companion(request.user, made_id), mind))


def _moved_out(companion: Companion, mind: digital_life.Mind) -> Out:
    return {
        "companion": companion,
        "messages": mind.messages,
        "diary": len(mind.longTermMemory),
        "ignored": digital_life.find_ignored(mind),
    }
