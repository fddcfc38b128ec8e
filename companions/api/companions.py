from typing import Any
from uuid import UUID, uuid4

from django.http import HttpRequest
from django.utils import timezone
from ninja import Router, Status

from accounts.idempotency import once
from accounts.rates import admit_to
from companions.api.cursor import PageQuery, page
from companions.api.finding import my_companion, person
from companions.api.parameters import IdempotencyKey
from companions.deletion import delete_companion as delete_for_good
from companions.making import create
from companions.models import Companion
from companions.schemas import CompanionIn, CompanionOut, CompanionPatch, CompanionsOut
from memory.policies import by_name

router = Router(tags=["companions"])


@router.get("", response=CompanionsOut, operation_id="list_companions", summary="My companions")
def list_companions(request: HttpRequest, asked: PageQuery) -> dict[str, object]:
    items, following = page(Companion.objects.owned_by(person(request)), "created_at", asked)
    return {"items": items, "next": following}


@router.post("", response={201: CompanionOut}, operation_id="create_companion", summary="Make a companion")
def create_companion(
    request: HttpRequest, body: CompanionIn, key: IdempotencyKey = None
) -> Status[Companion]:
    def make() -> UUID:
        admit_to(person(request), "companions", timezone.now())
        return create(person(request), **body.dict(), now=timezone.now(), id=uuid4()).pk

    made_id, _ = once(person(request), "create_companion", key, request.body, make)
    return Status(201, my_companion(request, made_id))


@router.get(
    "/{uuid:companion_id}", response=CompanionOut, operation_id="get_companion", summary="One companion"
)
def get_companion(request: HttpRequest, companion_id: UUID) -> Companion:
    return my_companion(request, companion_id)


@router.patch(
    "/{uuid:companion_id}", response=CompanionOut, operation_id="change_companion", summary="Change it"
)
def change_companion(request: HttpRequest, companion_id: UUID, body: CompanionPatch) -> Companion:
    companion = my_companion(request, companion_id)
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
def delete_companion(request: HttpRequest, companion_id: UUID) -> Status[None]:
    delete_for_good(my_companion(request, companion_id))
    return Status(204, None)


def _chosen(companion: Companion, changes: dict[str, Any]) -> dict[str, Any]:
    """The rule and its numbers as they are to be kept; ParameterError where they do not go together."""
    name = changes.get("recall_policy", companion.recall_policy)
    kept = companion.recall_parameters if name == companion.recall_policy else {}
    given = changes.get("recall_parameters", kept)
    by_name(name, parameters=given)
    return {"recall_policy": name, "recall_parameters": given}
