"""Branches of a conversation: list them, choose another and edit them."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from ninja import Field, Router, Schema, Status
from pydantic import StringConstraints

from accounts.authentication import SignedInRequest
from companions import access
from companions.api.schemas import ListOut, Text, list_rows
from companions.branches import operations
from companions.models import Branch
from companions.models.branch import BRANCH_NAME_CHARACTERS
from companions.pagination import PageQuery
from text.strings import one_line, shorten

router = Router(tags=["branches"])
BRANCHES = "/{uuid:companion_id}/branches"
BRANCH = BRANCHES + "/{uuid:branch_id}"
LAST_CHARACTERS = 200
BranchName = Annotated[Text, StringConstraints(max_length=BRANCH_NAME_CHARACTERS)]


class BranchOut(Schema):
    id: UUID
    name: str
    head: UUID = Field(alias="end")
    last: str
    is_chosen: bool
    made_at: datetime
    left_at: datetime | None

    @staticmethod
    def resolve_last(branch: Any) -> str:
        return shorten(one_line(branch.last), LAST_CHARACTERS)


class BranchesOut(ListOut[BranchOut]):
    pass


class BranchIn(Schema):
    from_message: UUID
    name: BranchName = ""


class BranchPatch(Schema):
    name: BranchName


@router.get(
    BRANCHES,
    response=BranchesOut,
    operation_id="list_branches",
    summary="List the branches of a conversation, newest first",
)
def list_branches(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> dict[str, Any]:
    companion = access.get_companion(request.user, companion_id)
    return list_rows(operations.load_branches(companion), "made_at", query)


@router.post(
    BRANCHES,
    response={201: BranchOut},
    operation_id="make_branch",
    summary="Start a new branch from a message",
)
def make_branch(request: SignedInRequest, companion_id: UUID, body: BranchIn) -> Status[Branch]:
    companion = access.get_companion(request.user, companion_id)
    branch = operations.fork(companion, body.from_message, timezone.now(), body.name)
    return Status(201, operations.load_branches(companion).get(pk=branch.pk))


@router.post(
    BRANCH + "/choose",
    response=BranchOut,
    operation_id="choose_branch",
    summary=(
        "Switch to a branch; the companion then knows what it knew at the end of that branch, "
        "and nothing else"
    ),
)
def choose_branch(request: SignedInRequest, companion_id: UUID, branch_id: UUID) -> Branch:
    branch = access.get_branch(request.user, companion_id, branch_id)
    operations.choose(branch, timezone.now())
    return operations.load_branches(branch.companion).get(pk=branch.pk)


@router.patch(BRANCH, response=BranchOut, operation_id="rename_branch", summary="Rename a branch")
def rename_branch(request: SignedInRequest, companion_id: UUID, branch_id: UUID, body: BranchPatch) -> Branch:
    branch = operations.rename(access.get_branch(request.user, companion_id, branch_id), body.name)
    return operations.load_branches(branch.companion).get(pk=branch.pk)


@router.delete(
    BRANCH,
    response={204: None},
    operation_id="delete_branch",
    summary="Delete a branch, the messages that are on no other branch, and everything derived from them",
)
def delete_branch(request: SignedInRequest, companion_id: UUID, branch_id: UUID) -> Status[None]:
    operations.delete(access.get_branch(request.user, companion_id, branch_id), timezone.now())
    return Status(204, None)
