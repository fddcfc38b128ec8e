"""Companions: made, changed, deleted, given out as a file and taken in from one."""

from typing import Any
from uuid import UUID, uuid4

from django.http import StreamingHttpResponse
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import once
from accounts.rates import admit_to
from companions import access
from companions.api.schemas import CompanionIn, CompanionOut, CompanionPatch, CompanionsOut, IdempotencyKey
from companions.creation import create
from companions.deletion import delete_companion as delete_for_good
from companions.models import Companion
from companions.pagination import PageQuery, paginate
from companions.transfer import digital_life
from companions.transfer.archive import export_response, read_upload
from companions.transfer.digital_life_export import export_mind
from companions.transfer.digital_life_import import import_mind
from memory.scoring import by_name

router = Router(tags=["companions"])
transfer_router = Router(tags=["moving"])
Out = dict[str, Any]


@router.get("", response=CompanionsOut, operation_id="list_companions", summary="My companions")
def list_companions(request: SignedInRequest, query: PageQuery) -> dict[str, object]:
    items, next_cursor = paginate(Companion.objects.owned_by(request.user), "created_at", query)
    return {"items": items, "next": next_cursor}


@router.post("", response={201: CompanionOut}, operation_id="create_companion", summary="Make a companion")
def create_companion(
    request: SignedInRequest, body: CompanionIn, key: IdempotencyKey = None
) -> Status[Companion]:
    def make() -> UUID:
        admit_to(request.user, "companions", timezone.now())
        return create(request.user, **body.dict(), now=timezone.now(), id=uuid4()).pk

    made_id, _ = once(request.user, "create_companion", key, request.body, make)
    return Status(201, access.get_companion(request.user, made_id))


@router.get(
    "/{uuid:companion_id}", response=CompanionOut, operation_id="get_companion", summary="One companion"
)
def get_companion(request: SignedInRequest, companion_id: UUID) -> Companion:
    return access.get_companion(request.user, companion_id)


@router.patch(
    "/{uuid:companion_id}", response=CompanionOut, operation_id="change_companion", summary="Change it"
)
def change_companion(request: SignedInRequest, companion_id: UUID, body: CompanionPatch) -> Companion:
    companion = access.get_companion(request.user, companion_id)
    changes = {name: value for name, value in body.dict(exclude_unset=True).items() if value is not None}
    if "recall_policy" in changes or "recall_parameters" in changes:
        changes |= _chosen(companion, changes)
    for name, value in changes.items():
        setattr(companion, name, value)
    companion.save(update_fields=list(changes))
    return companion


@router.delete(
    "/{uuid:companion_id}", response={204: None}, operation_id="delete_companion", summary="Delete it"
)
def delete_companion(request: SignedInRequest, companion_id: UUID) -> Status[None]:
    delete_for_good(access.get_companion(request.user, companion_id))
    return Status(204, None)


def _chosen(companion: Companion, changes: dict[str, Any]) -> dict[str, Any]:
    """The rule and its numbers as they are to be kept; ParameterError where they do not go together."""
    name = changes.get("recall_policy", companion.recall_policy)
    kept = companion.recall_parameters if name == companion.recall_policy else {}
    given = changes.get("recall_parameters", kept)
    by_name(name, parameters=given)
    return {"recall_policy": name, "recall_parameters": given}


@transfer_router.get(
    "/{uuid:companion_id}/export",
    operation_id="export_companion",
    summary="Everything of it, as a JSON file",
    openapi_extra={"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}},
)
def export_companion(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return export_response(access.get_companion(request.user, companion_id))


@transfer_router.get(
    "/{uuid:companion_id}/export/digital-life",
    operation_id="export_digital_life",
    response=dict[str, Any],
    summary="Its memory as DigitalLife's eight fields",
)
def export_digital_life(request: SignedInRequest, companion_id: UUID) -> dict[str, Any]:
    return export_mind(access.get_companion(request.user, companion_id))


class MovedOut(Schema):
    companion: CompanionOut
    messages: int
    diary: int
    ignored: list[str] = Field(description="The first twenty fields that DigitalLife does not have.")


@transfer_router.post(
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
    return Status(201, _moved_out(access.get_companion(request.user, made_id), mind))


def _moved_out(companion: Companion, mind: digital_life.Mind) -> Out:
    return {
        "companion": companion,
        "messages": mind.messages,
        "diary": len(mind.longTermMemory),
        "ignored": digital_life.find_ignored(mind),
    }
