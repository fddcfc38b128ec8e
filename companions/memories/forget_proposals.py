"""Proposals to forget: a companion makes one when its person asks, and only the person can confirm it.

Confirming deletes everything chosen, in one transaction, by `companions.deletion`. What remains and states the same is
hidden from models, and it is not learnt again from earlier messages.
"""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from companions.deletion.deletion import messages_hidden, remove
from companions.deletion.traces import scrub_lines
from companions.errors import ForgetProposalError
from companions.events import notify_companion
from companions.life.inner_state import delete_states
from companions.memories.forget_items import Item, Kind, find_items, find_sources
from companions.models import Companion, ForgetProposal, InnerState, Message, Reply, Session
from companions.models.companion import hold
from companions.models.forget_proposal import SUBJECT_CHARACTERS
from database.journal import erasing
from database.queries import lift_statement_timeout
from memory.deletion.sentences import drop_sentences
from memory.forgotten import Words, find_telling_memories, keep_forgotten, read_words, tells
from memory.models import Memory
from text.strings import quoted, split_sentences, storable

STANDS = timedelta(days=3)  # an open proposal lapses after this time
MAX_OPEN = 10  # of a companion: showing each costs a search, so the oldest lapse when there are more
State = ForgetProposal.State


def propose(
    companion: Companion,
    reply_id: UUID,
    wordings: Sequence[str],
    now: datetime,
    near: Sequence[UUID] = (),
) -> ForgetProposal | None:
    """Create and return a proposal to forget what the wordings state; None if nothing is found besides the request.

    `near` are memories that may state it in other words; they count as found. A reply's proposal of the same wordings
    is returned again. The oldest open proposals above MAX_OPEN lapse, and nothing more is learnt from the request. The
    caller must hold the companion's lock.
    """
    subject = storable("\n".join(" ".join(wording.split()) for wording in wordings))[:SUBJECT_CHARACTERS]
    items = find_items(companion, _read_statements(companion, subject), near=near, now=now)
    reply = Reply.objects.get(pk=reply_id)
    if not [item for item in items if item.row_id != reply.message_id]:
        return None
    proposal = ForgetProposal.objects.filter(reply=reply, subject=subject, state=State.OPEN).first()
    if proposal is None:  # otherwise the tool call is repeated, since the result of its commit was lost
        waiting = ForgetProposal.objects.filter(companion=companion, state=State.OPEN)
        for old in waiting.select_related("reply").order_by("-made_at", "-pk")[MAX_OPEN - 1 :]:
            _end(old, State.LAPSED, now)
        proposal = ForgetProposal.objects.create(
            companion=companion, reply=reply, subject=subject, near=list(near), made_at=now
        )
        notify_companion(companion.pk, _render_frame("forget.proposed", proposal))
    Message.objects.filter(pk=reply.message_id).update(is_learnt=True)
    return proposal


def load_items(proposal: ForgetProposal) -> list[Item]:
    """Return the items that confirming the proposal would delete as of now; none if it has ended."""
    if proposal.state != State.OPEN:
        return []
    reply = proposal.reply
    asked_in = [message for message in (reply.message, reply.answer) if message]
    statements = _read_statements(proposal.companion, proposal.subject)
    return find_items(proposal.companion, statements, asked_in, near=proposal.near, now=proposal.made_at)


def _read_statements(companion: Companion, subject: str) -> list[Words]:
    words = (read_words(line, companion.names.values()) for line in subject.splitlines())
    return list(dict.fromkeys(filter(None, words)))


@erasing()
def confirm(proposal: ForgetProposal, chosen: Collection[str] | None, now: datetime) -> int:
    """Forget the items with the `chosen` keys, or if None all that are not merely near; return how many.

    Raise ForgetProposalError if the proposal has ended or nothing is chosen.
    """
    lift_statement_timeout()
    companion = hold(proposal.companion_id)
    held = _hold_open(proposal)
    if companion is None or held is None:
        raise ForgetProposalError("proposal_ended", _("This has already been decided. Nothing was changed."))
    items = load_items(held)
    offered = [item for item in items if not item.goes_along]
    if chosen is None:
        going = [item for item in offered if not item.is_near]
    else:
        going = [item for item in offered if item.key in chosen]
    if not going:
        raise ForgetProposalError("nothing_chosen", _("Choose what to forget."))
    statements, names = _read_statements(companion, held.subject), companion.names.values()
    going_words = (read_words(item.text, names) for item in going if item.kind != Kind.MESSAGE)
    statements += [
        read_words(item.text, names) for item in going if item.is_near and item.kind == Kind.MEMORY
    ]
    keep_forgotten(companion.pk, [*statements, *going_words], now)
    _delete_rows(companion, going, now)
    gone = {item.text for item in going}
    kept = {item.text for item in offered} - gone

    def goes(text: str) -> bool:
        return text in gone or (text not in kept and tells(read_words(text, names), statements))

    def goes_in(line: str) -> bool:
        return any(text in line for text in traced) or any(map(goes, split_sentences(line)))

    traced = gone | {item.text for item in items if item.goes_along}
    traced |= {quoted(text)[1:-1] for text in traced}  # as prompts quote it
    drop_sentences(companion.pk, goes, now)
    scrub_lines(companion.pk, goes_in, now)
    _drop_inner_states(companion, goes)
    _clear_sessions(companion, goes)
    _hide_rest(companion, statements)
    _end(held, State.CONFIRMED, now)
    return len(going)


@transaction.atomic
def decline(proposal: ForgetProposal, now: datetime) -> None:
    """End the proposal without forgetting anything. Does nothing if it has ended already."""
    hold(proposal.companion_id)
    if held := _hold_open(proposal):
        _end(held, State.DECLINED, now)


def lapse(now: datetime) -> int:
    """End the open proposals that were made longer than STANDS ago; return how many."""
    old = ForgetProposal.objects.filter(state=State.OPEN, made_at__lt=now - STANDS)
    return old.update(state=State.LAPSED, subject="", near=[], ended_at=now)


def _hold_open(proposal: ForgetProposal) -> ForgetProposal | None:
    rows = ForgetProposal.objects.filter(pk=proposal.pk, state=State.OPEN)
    related = ("companion__user", "reply__message", "reply__answer")
    return rows.select_related(*related).select_for_update(of=("self",)).first()


def _end(proposal: ForgetProposal, state: State, now: datetime) -> None:
    """End the proposal, unless it was deleted with the message that asked for it, and notify open sockets.

    If it is confirmed, the tool calls of its reply are erased, too.
    """
    proposal.state, proposal.subject, proposal.near, proposal.ended_at = state, "", [], now
    ForgetProposal.objects.filter(pk=proposal.pk).update(state=state, subject="", near=[], ended_at=now)
    if state == State.CONFIRMED:
        Reply.objects.filter(pk=proposal.reply_id).update(tool_calls=[])  # they contain the wordings
    notify_companion(proposal.companion_id, _render_frame("forget.ended", proposal))


def _render_frame(type: str, proposal: ForgetProposal) -> dict[str, str]:
    ids = {"id": str(proposal.pk), "reply_id": str(proposal.reply_id)}
    return {"type": type, **ids, "message_id": str(proposal.reply.message_id), "state": proposal.state}


# -- deleting what was chosen


def _delete_rows(companion: Companion, going: Collection[Item], now: datetime) -> None:
    """Delete the memories and messages among the items, with everything derived from them."""
    messages = list(Message.everywhere.filter(companion=companion, pk__in=_get_ids(going, Kind.MESSAGE)))
    rows = Memory.everywhere.of(companion.pk).filter(pk__in=_get_ids(going, Kind.MEMORY, Kind.DOCUMENT))
    memories = list(rows.defer("entry"))
    sources = find_sources(companion, messages, memories)
    remove(companion, now, messages=messages, sources=sources, memories=memories)


def _get_ids(items: Collection[Item], *kinds: Kind) -> list[UUID]:
    return [item.row_id for item in items if item.kind in kinds and item.row_id]


def _drop_inner_states(companion: Companion, goes: Callable[[str], bool]) -> None:
    states = InnerState.objects.filter(companion=companion).exclude(text="")
    ids = [state.pk for state in states if any(map(goes, split_sentences(state.text)))]
    if ids:
        delete_states(companion, ids, goes)


def _clear_sessions(companion: Companion, goes: Callable[[str], bool]) -> None:
    """Clear titles and summaries of sessions for which `goes` is true, and such lines of the open session's notes."""
    mine = Session.everywhere.filter(companion=companion)
    for session in mine.exclude(title=""):
        if goes(session.title):
            mine.filter(pk=session.pk).update(title="")
    for session in mine.exclude(summary=""):
        if any(map(goes, split_sentences(session.summary))):
            mine.filter(pk=session.pk).update(summary="", summarised_until=None)
    for session in mine.filter(ended_at=None):
        left = "\n".join(line for line in session.scratch.splitlines() if not goes(line))
        if left != session.scratch:
            mine.filter(pk=session.pk).update(scratch=left)


def _hide_rest(companion: Companion, statements: Sequence[Words]) -> None:
    """Hide from models the remaining messages that contain one of the statements. People still see them."""
    left = find_telling_memories(companion.pk, statements)
    ids = {memory.message_id for memory in left if memory.message_id}
    Message.everywhere.filter(companion=companion, pk__in=ids).update(is_hidden=True)
    Memory.everywhere.of(companion.pk).filter(message__in=ids).update(is_private=True)
    messages_hidden.send(sender=Message, companion_id=companion.pk, ids=ids)
