from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone
from ninja import Router, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import once
from accounts.rates import admit_to
from companions import access
from companions.api.schemas import CompanionIn, CompanionOut, CompanionPatch, CompanionsOut, IdempotencyKey
from companions.creation import create
from companions.deletion import delete_companion as delete_for_good
from companions.models import Companion
from companions.pagination import PageQuery, paginate
from memory.scoring import by_name

router = Router(tags=["companions"])


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
