"""What a companion proposed to forget at its user's request, to be confirmed or declined."""

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.utils import timezone
from ninja import Field, Query, Router, Schema, Status
from pydantic import StringConstraints

from accounts.authentication import SignedInRequest
from companions.access import get_companion, get_forget_proposal
from companions.api.schemas import ListOut, describe_choices
from companions.memories import forget_proposals
from companions.memories.forget_items import MAX_SHOWN, Kind, show_items
from companions.models import ForgetProposal
from companions.pagination import PageQuery, paginate

router = Router(tags=["memories"])
PROPOSALS = "/{uuid:companion_id}/forget-proposals"
PROPOSAL = PROPOSALS + "/{uuid:proposal_id}"
MAX_KEYS = 1000
Key = Annotated[str, StringConstraints(max_length=100)]
State = Annotated[ForgetProposal.State, describe_choices(ForgetProposal.State)]


class ForgetItemOut(Schema):
    key: str = Field(description="The key with which to choose the item.")
    kind: Annotated[Kind, describe_choices(Kind)]
    text: str
    is_near: bool = Field(
        description="Whether the item might say the same in other words. Such an item is forgotten only "
        "if its key is chosen."
    )
    goes_along: bool = Field(
        description="Whether the item was derived from another and is forgotten along with it. It cannot "
        "be chosen."
    )


class ForgetProposalOut(Schema):
    id: UUID
    reply_id: UUID
    state: State
    made_at: datetime
    ended_at: datetime | None
    items: list[ForgetItemOut] = Field(
        description=f"What would be forgotten now: at most {MAX_SHOWN} items that can be chosen, and as many that are"
        " forgotten along with them. Empty once the proposal has ended."
    )
    more: int = Field(
        description="Number of further items that would be forgotten if the whole proposal is confirmed."
    )


class ForgetProposalsOut(ListOut[ForgetProposalOut]):
    pass


class WhichProposalsIn(Schema):
    state: State = ForgetProposal.State.OPEN


class ConfirmIn(Schema):
    keys: list[Key] | None = Field(
        None,
        max_length=MAX_KEYS,
        description="The keys of the items to forget; if omitted, all items except those with `is_near`.",
    )


class ForgottenOut(Schema):
    forgotten: int


@router.get(
    PROPOSALS,
    response=ForgetProposalsOut,
    operation_id="list_forget_proposals",
    summary="List what the companion proposed to forget at its user's request",
)
def list_forget_proposals(
    request: SignedInRequest, companion_id: UUID, query: PageQuery, which: Query[WhichProposalsIn]
) -> dict[str, object]:
    companion = get_companion(request.user, companion_id)
    rows = ForgetProposal.objects.filter(companion=companion, state=which.state)
    related = ("companion__user", "reply__message", "reply__answer")
    found, next_cursor = paginate(rows.select_related(*related), "made_at", query)
    return {"items": [_proposal_out(proposal) for proposal in found], "next": next_cursor}


def _proposal_out(proposal: ForgetProposal) -> dict[str, object]:
    shown = show_items(forget_proposals.load_items(proposal))
    fields = ("id", "reply_id", "state", "made_at", "ended_at")
    items, more = [*shown["items"], *shown["along"]], shown["more"] + shown["along_more"]
    return {name: getattr(proposal, name) for name in fields} | {"items": items, "more": more}


@router.post(
    PROPOSAL + "/confirm",
    response=ForgottenOut,
    operation_id="confirm_forget_proposal",
    summary="Confirm a proposal; the chosen items are deleted everywhere and not learnt again",
)
def confirm_forget_proposal(
    request: SignedInRequest, companion_id: UUID, proposal_id: UUID, body: ConfirmIn
) -> dict[str, int]:
    proposal = get_forget_proposal(request.user, companion_id, proposal_id)
    return {"forgotten": forget_proposals.confirm(proposal, body.keys, timezone.now())}


@router.post(
    PROPOSAL + "/decline",
    response={204: None},
    operation_id="decline_forget_proposal",
    summary="Decline a proposal; nothing is forgotten",
)
def decline_forget_proposal(request: SignedInRequest, companion_id: UUID, proposal_id: UUID) -> Status[None]:
    forget_proposals.decline(get_forget_proposal(request.user, companion_id, proposal_id), timezone.now())
    return Status(204, None)
