"""One closing: claimed, drafted by the model in four parts, written in one transaction. Killed anywhere, it goes on."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q

from accounts.usage import NO_TOKENS, waits_until
from companions.deletion import delete_messages
from companions.life.inner_state import revise
from companions.life.reflection import read_feeling
from companions.models import Closing, Companion, InnerState, Job, Message, PastImport, Session
from companions.models.companion import hold
from companions.pasts.budget import find_wait, spending
from companions.sessions import digests
from companions.sessions.drafts import Drafts, Material, gather, is_new, load_known
from companions.sessions.parts import (
    draft_diary,
    draft_facts,
    draft_understanding,
    draft_verification,
    keep_edits,
    keep_told,
)
from companions.sessions.transcript import build_talk, is_being_answered, measure, select_messages
from jobs.background import enqueue
from jobs.lease import RETRY_DELAY, Clock, Lease, note_failures
from memory.learning.answers import Reflection
from memory.learning.contradictions import group_by_place
from memory.learning.diary import ClosedSession, Written, keep_session
from memory.learning.verdicts import learn
from memory.models import Memory
from providers.preference import preferring

log = structlog.get_logger(__name__)

BATCH = 200
PARTS = 4
NEXT_TASK = "companions.tasks.go_on_with_pasts"
MAX_DRAFTS = 3 * PARTS  # in one run: whoever deletes meanwhile need not be outrun


def find_due(now: datetime, limit: int = BATCH) -> list[UUID]:
    """Return the closings that anybody may go on with now."""
    waiting = Closing.objects.open().filter(next_at__lte=now).order_by("next_at")
    return list(waiting.values_list("pk", flat=True)[:limit])


def run(closing_id: UUID, now: datetime, clock: Clock | None = None) -> None:
    """Go on with the closing if it is due. What goes wrong is written down, and it is tried again later.

    `now` is the time of what is written; leases and waits count from what the clock says then, else from `now`.
    """
    row = Closing.objects.open().filter(pk=closing_id)
    lease = Lease.take(row, "next_at", clock or (lambda: now), error="")
    if lease:
        past_id = row.values_list("past", flat=True).first()
        with note_failures(lease, partial(_note_failure, lease)), spending(past_id, now):
            _go_on(closing_id, lease, now)


class Standing(NamedTuple):
    """An open closing as it stands: what it closes, and what was drafted of that so far."""

    closing: Closing
    material: Material
    drafts: Drafts

    @property
    def missing(self) -> str:
        """The part that is to be drafted next; empty where all are there."""
        return self.drafts.find_missing(self.material)


def _go_on(closing_id: UUID, lease: Lease, now: datetime) -> None:
    """Draft and end the session; where it must wait, or people change what was said again and again, let go of it."""
    standing = end(closing_id, now)
    for _attempt in range(MAX_DRAFTS):
        if standing is None or is_being_answered(standing.closing.session, standing.closing.until_at):
            break
        with preferring(standing.closing.companion.preference):
            made = _draft(standing, lease, now)
        if made is None:
            return
        standing = keep_drafts(closing_id, **made) if made else None
        if standing is None or not standing.missing:
            standing = end(closing_id, now)
    if standing:
        lease.release(lease.clock() + RETRY_DELAY)


def _draft(standing: Standing, lease: Lease, now: datetime) -> dict[str, Any] | None:
    """Ask the model for the part that is missing, after batches where more is not learnt yet than it could read at once.

    Return it by its name, nothing where what was said changed meanwhile; None where the model may not be asked now.
    """
    closing, material, drafts = standing
    while measure(material.unlearnt) > material.room:
        if not _may_ask(closing, lease):
            return None
        if not digests.learn_batch(closing.session, now, closing.until_at):
            return {}
        closing.session.refresh_from_db(fields=["summary", "summarised_until"])
        material = gather(closing)
        drafts = Drafts.load(closing, material)
    if not _may_ask(closing, lease):
        return None
    match drafts.find_missing(material):
        case "diary":
            return {"diary": draft_diary(material, now)}
        case "facts":
            return {"facts": draft_facts(material, now)}
        case "understanding":
            return {"understanding": draft_understanding(material, drafts)}
        case "verification":
            return {"verification": draft_verification(material, drafts, now)}
    return {}


def _may_ask(closing: Closing, lease: Lease) -> bool:
    """Whether the model may be asked now: no other worker is at it, and the day's tokens are not used up, or, of an
    imported past, the night's.

    Where they are, it is gone on with tomorrow; but what has begun comes to its end.
    """
    if not lease.renew():
        return False
    if closing.past:
        later = find_wait(closing.past, lease.clock(), has_begun=bool(closing.drafts))
        if later:
            lease.release(later)
        return later is None
    if closing.drafts:
        return True
    user, is_asked_for = closing.companion.user, closing.job_id is not None
    tomorrow = waits_until(user, lease.clock(), is_asked_for=is_asked_for)
    if tomorrow:
        lease.release(tomorrow, error=NO_TOKENS)
    return tomorrow is None


def _note_failure(lease: Lease, code: str) -> None:
    """Count the try; after the last one the operator is told, and the session stays open until it is asked anew."""
    closing = lease.held_row.first() if lease.count_failure(code) else None
    if closing is None:
        return
    Job.objects.filter(closing=closing).update(error=code)
    lease.held_row.update(state=Closing.State.FAILED, ended_at=lease.clock())
    log.error(
        "session_not_closed", closing_id=str(closing.pk), companion_id=str(closing.companion_id), code=code
    )


@transaction.atomic
def end(closing_id: UUID, now: datetime) -> Standing | None:
    """End the session where all is drafted; else return the closing as it stands, to be drafted (anew)."""
    closing = _hold_closing(closing_id)
    if closing is None:
        return None
    material = gather(closing)
    if closing.is_forgetful:
        ids = select_messages(closing.session, closing.until_at).values_list("pk", flat=True)
        delete_messages(closing.companion_id, list(ids), now)
        closing.session.summary = closing.session.title = ""
    elif material.is_worth_telling:
        drafts = Drafts.load(closing, material)
        if drafts.diary is None or drafts.find_missing(material):
            _keep(closing, drafts)
            return Standing(closing, material, drafts)
        _learn(material, drafts, now)
        closing.session.title = _keep_diary(material, drafts, now)
    _end_session(closing, now)
    return None


@transaction.atomic
def keep_drafts(closing_id: UUID, **made: Any) -> Standing | None:
    """Keep what the model has made of a session, if what it was made from still stands: nothing deleted comes back so.

    Return the closing as it stands then; None where nothing is to be drafted any more.
    """
    closing = _hold_closing(closing_id)
    if closing is None:
        return None
    material = gather(closing)
    closing.drafts = replace(Drafts.load(closing, material), **made).dump()
    drafts = Drafts.load(closing, material)
    _keep(closing, drafts)
    is_wanted = material.is_worth_telling and not closing.is_forgetful
    return Standing(closing, material, drafts) if is_wanted else None


def _keep(closing: Closing, drafts: Drafts) -> None:
    closing.drafts = drafts.dump()
    Closing.objects.filter(pk=closing.pk).update(drafts=closing.drafts)


def _hold_closing(closing_id: UUID) -> Closing | None:
    """Return the closing as it waits, with its companion locked; None where it is done or gone."""
    companion_id = Closing.objects.filter(pk=closing_id).values_list("companion_id", flat=True).first()
    companion = hold(companion_id) if companion_id else None
    closing = Closing.objects.open().filter(pk=closing_id).select_related("session", "past").first()
    if closing and companion:
        closing.companion = closing.session.companion = companion
        if closing.past:
            closing.past.companion = companion
    return closing if companion else None


def _learn(material: Material, drafts: Drafts, now: datetime) -> None:
    companion, facts = material.companion, drafts.facts
    by_id = {str(message.pk): message for message in material.messages}
    if facts is not None:
        known = load_known(companion.pk, facts.known) or []
        talk = build_talk(companion.pk, [by_id[id] for id in facts.lines], companion.user.zone, material.room)
        learnt_from = {message.pk for message in material.messages if message.is_learnt}
        entries = facts.learnt
        new = {place for place, entry in enumerate(entries) if is_new(entry, talk, learnt_from)}
        read = drafts.verification
        learn(
            companion.pk,
            talk,
            entries,
            known,
            now=now,
            zone=companion.user.zone,
            names=companion.names,
            session_id=material.session.pk,
            call_id=facts.call_id,
            contradicted=_load_paired(companion.pk, read.contradicted if read else []),
            repeated=_load_paired(companion.pk, read.repeated if read else []),
            unreadable=facts.unreadable,
            read=drafts.words_of_facts,
            only=new,
        )
    Message.objects.filter(pk__in=by_id).update(is_learnt=True)


def _load_paired(companion_id: UUID, pairs: Sequence[tuple[int, str]]) -> dict[int, list[Memory]]:
    """Return by the place of an entry the memories that are paired with it, of those that are still as they were seen."""
    seen = [(place, memory) for place, one in pairs for memory in load_known(companion_id, [one]) or []]
    return group_by_place(seen)


def _keep_diary(material: Material, drafts: Drafts, now: datetime) -> str:
    """Keep the diary entry, what the two are thought to be, and the inner state where it has moved.

    Return the title of the entry, which tells nothing that was forgotten.
    """
    companion, messages, understanding = material.companion, material.messages, drafts.understanding
    if drafts.diary is None:
        return ""
    diary, words = keep_told(drafts.diary, drafts.words), drafts.words
    ended_at = messages[-1].said_at
    own, theirs = (understanding.self_concept, understanding.user_profile) if understanding else ([], [])
    written = Written(
        title=diary.title,
        diary=diary.diary,
        emotion=diary.emotion,
        intensity=diary.intensity,
        call_id=diary.call_id,
        self_concept=keep_edits(material.self_concept, own, "self", words),
        user_profile=keep_edits(material.user_profile, theirs, "profile", words),
        understood_by=understanding.call_id if understanding else None,
    )
    ended = ClosedSession(
        session_id=material.session.pk, started_at=messages[0].said_at, ended_at=ended_at, written=written
    )
    entry = keep_session(companion.pk, ended, now, companion.user.zone)
    if understanding or (material.understood_until and material.is_understanding_due):
        # Also where nothing was learnt: what teaches nothing is not shown again with each later talk.
        _note_understood(material, ended_at)
    state = material.inner_state
    if diary.inner_state and state and str(state.pk) == diary.felt_before:
        answer = Reflection.model_validate(diary.inner_state)
        revise(
            companion.pk,
            answer.text,
            read_feeling(answer),
            by=InnerState.By.CLOSING,
            now=now,
            seen=[message.pk for message in messages],
            until_at=ended_at,
            call_id=diary.call_id,
        )
    return entry.title


def _note_understood(material: Material, until_at: datetime) -> None:
    """Note until when self-concept and profile were looked through: for the past that it came with, and for the
    companion, which may have been later already.
    """
    mine = Companion.objects.filter(pk=material.companion.pk)
    if material.past:
        PastImport.objects.filter(pk=material.past.pk).update(understood_until=until_at)
        mine = mine.filter(Q(understood_until=None) | Q(understood_until__lt=until_at))
    mine.update(understood_until=until_at)


def _end_session(closing: Closing, now: datetime) -> None:
    """End the session and the closing; what was said since is the next session's."""
    session = closing.session
    closed = select_messages(session, closing.until_at).values("pk")
    messages = Message.objects.filter(session=session).exclude(pk__in=closed).order_by("said_at", "id")
    later = list(messages.values_list("pk", "said_at"))
    session.ended_at, session.scratch = closing.until_at, ""
    session.unsent, session.pressure, session.digest_at = 0, 0.0, None
    session.save()
    if later:
        next_session = Session.objects.create(
            companion_id=session.companion_id,
            conversation_id=session.conversation_id,
            started_at=later[0][1],
        )
        Message.objects.filter(pk__in=[id for id, _said_at in later]).update(session=next_session)
    closing.state, closing.ended_at, closing.error = Closing.State.DONE, now, ""
    closing.drafts = {}
    closing.save()
    if closing.past:
        enqueue(NEXT_TASK)
