"""One closing: leased, drafted by the model in four parts, saved in one transaction; it may resume after any crash."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Q

from accounts.limits.usage import NO_TOKENS_LEFT, waits_until
from companions.deletion import delete_messages
from companions.life.inner_state import revise
from companions.life.reflection import read_feeling
from companions.models import Closing, Companion, InnerState, Job, Message, PastImport, Session
from companions.models.companion import hold
from companions.pasts.budget import find_wait, spending
from companions.sessions import digests
from companions.sessions.drafts import Drafts, Material, gather, is_new, leave_out, load_known
from companions.sessions.parts import (
    build_learnt,
    draft_diary,
    draft_facts,
    draft_understanding,
    draft_verification,
    keep_edits,
    keep_verified,
)
from companions.sessions.transcript import is_being_answered, measure, select_messages
from jobs.background import enqueue
from jobs.lease import RETRY_DELAY, Clock, Lease, note_failures
from memory.learning.answers import Reflection
from memory.learning.contradictions import group_by_place
from memory.learning.diary import ClosedSession, Written, keep_session, rewrite
from memory.learning.verdicts import learn
from memory.models import Memory
from providers.chat.structured import require_model
from providers.errors import OUTAGES, AnswerUnfinished, MalformedError, ProviderRefused
from providers.selection import preferring

log = structlog.get_logger(__name__)

BATCH = 200
PARTS = 4
MAX_DRAFTS = 3 * PARTS  # in one run, since deletions may invalidate drafts
# The facts of a talk matter more: they do not wait for these parts after so many failed attempts, in half an hour.
MAY_BE_LEFT_OUT, MAX_PART_ATTEMPTS = {"diary", "understanding"}, 4
DIARY_DELAY = timedelta(hours=1)  # before a diary that was left out is tried again


def find_due(now: datetime) -> list[UUID]:
    """Return the ids of closings that are due and not leased by a worker."""
    waiting = Closing.objects.open().filter(next_at__lte=now).order_by("next_at")
    return list(waiting.values_list("pk", flat=True)[:BATCH])


def run(closing_id: UUID, clock: Clock) -> None:
    """Carry on the closing, if it is due. A failure is counted, and the closing is retried later."""
    now = clock()
    row = Closing.objects.open().filter(pk=closing_id)
    past_id, before = row.values_list("past", "error").first() or (None, "")
    lease = Lease.take(row, "next_at", clock, error="")
    if lease:
        error = before if before in OUTAGES else ""  # stays while the model may not be asked
        with note_failures(lease, partial(_note_failure, lease), error=error), spending(past_id, now):
            _go_on(closing_id, lease, now)


class Progress(NamedTuple):
    """An open closing with its material, the drafts made from it so far, and the name of the part to draft next; empty
    if none is missing.
    """

    closing: Closing
    material: Material
    drafts: Drafts
    missing: str


def _go_on(closing_id: UUID, lease: Lease, now: datetime) -> None:
    """Draft what is missing and end the session; release the lease if it must wait or its messages keep changing."""
    progress = advance(closing_id, now)
    for _attempt in range(MAX_DRAFTS):
        if progress is None or is_being_answered(progress.closing.session, progress.closing.until_at):
            break
        with preferring(progress.closing.companion.preference):
            made = _draft(progress, lease, now)
        if made is None:
            return
        progress = advance(closing_id, now, **made)
        if progress and not progress.missing:
            progress = advance(closing_id, now)
    if progress:
        lease.release(lease.clock() + RETRY_DELAY)


def _draft(progress: Progress, lease: Lease, now: datetime) -> dict[str, Any] | None:
    """Draft the missing part and return it by its name. Learn in batches first, if the unlearnt messages do not fit.

    Return an empty dict if the messages changed meanwhile or nothing is missing any more, and None if the model may not
    be asked now.
    """
    closing, material, drafts, part = progress
    while measure(material.unlearnt) > material.room:
        if not _may_ask(closing, lease):
            return None
        if not digests.learn_batch(closing.session, lease, now, closing.until_at):
            return {}
        closing.session.refresh_from_db(fields=["summary", "summarised_until"])
        material = gather(closing)
        drafts = Drafts.load(closing, material)
        part = drafts.find_missing(material)
    if not _may_ask(closing, lease):
        return None
    require_model()  # or the texts would be embedded each time in vain
    try:
        match part:
            case "diary":
                return {part: draft_diary(material)}
            case "facts":
                return {part: draft_facts(material, now)}
            case "understanding":
                return {part: draft_understanding(material, drafts)}
            case "verification":
                return {part: draft_verification(material, drafts, now)}
    except (AnswerUnfinished, MalformedError, ProviderRefused) as error:
        if part not in MAY_BE_LEFT_OUT or closing.attempts < MAX_PART_ATTEMPTS:
            raise
        log.error("part_left_out", closing_id=str(closing.pk), part=part, code=error.code)
        return leave_out(part, material, drafts)
    return {}


def _may_ask(closing: Closing, lease: Lease) -> bool:
    """Return whether the model may be asked now: the lease holds, and the day's tokens suffice (a past's: the night's).

    If the tokens are used up, postpone the closing, unless it has drafts already.
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
        lease.release(tomorrow, error=NO_TOKENS_LEFT)
    return tomorrow is None


def _note_failure(lease: Lease, code: str) -> None:
    """Count the failure; after the last attempt, fail the closing and log an error. The session then stays open."""
    closing = lease.held_row.first() if lease.count_failure(code, is_outage=code in OUTAGES) else None
    if closing is None:
        return
    Job.objects.filter(closing=closing).update(error=code)
    lease.held_row.update(state=Closing.State.FAILED, ended_at=lease.clock())
    log.error(
        "session_not_closed", closing_id=str(closing.pk), companion_id=str(closing.companion_id), code=code
    )


@transaction.atomic
def advance(closing_id: UUID, now: datetime, **made: Any) -> Progress | None:
    """Keep the newly made drafts, by part, and the earlier ones, each if what it was made from has not changed; so
    nothing deleted comes back. Return the closing with its valid drafts.

    If no part is missing and none is new, end the session and return None: the last draft is kept in a transaction of
    its own, so that a crash while the session ends costs no further call. No parts are needed if the user said nothing
    that may be told, or if the closing is forgetful: then the session's messages are deleted. Return None as well if
    the closing is done or gone.
    """
    closing = _hold_closing(closing_id)
    if closing is None:
        return None
    material = gather(closing)
    if closing.is_forgetful:
        ids = select_messages(closing.session, closing.until_at).values_list("pk", flat=True)
        delete_messages(closing.companion_id, list(ids), now)
        closing.session.summary = closing.session.title = ""
    elif material.is_worth_telling:
        closing.drafts = {**closing.drafts, **Drafts(**made).dump()}
        drafts = Drafts.load(closing, material)
        missing = drafts.find_missing(material)
        if made or missing:
            closing.drafts = drafts.dump()
            Closing.objects.filter(pk=closing.pk).update(drafts=closing.drafts)
            return Progress(closing, material, drafts, missing)
        _learn(material, drafts, now)
        closing.session.title = _keep_diary(material, drafts, now)
    _end_session(closing, now)
    return None


def _hold_closing(closing_id: UUID) -> Closing | None:
    """Lock the companion and return the open closing; None if it is done or gone."""
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
    if facts is not None:
        known = load_known(companion.pk, facts.known) or []
        talk = build_learnt(material, facts)
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
            names=material.names,
            session_id=material.session.pk,
            call_id=facts.call_id,
            contradicted=_load_paired(companion.pk, read.contradicted if read else []),
            repeated=_load_paired(companion.pk, read.repeated if read else []),
            unreadable=facts.unreadable,
            read=drafts.words_of_facts,
            only=new,
        )
    Message.objects.filter(pk__in=[message.pk for message in material.messages]).update(is_learnt=True)


def _load_paired(companion_id: UUID, pairs: Sequence[tuple[int, str]]) -> dict[int, list[Memory]]:
    """Return, by the index of a fact, the memories paired with it, without those that changed since they were read."""
    seen = [
        (place, memory)
        for place, fingerprint in pairs
        for memory in load_known(companion_id, [fingerprint]) or []
    ]
    return group_by_place(seen)


def _keep_diary(material: Material, drafts: Drafts, now: datetime) -> str:
    """Save the diary entry, the self-concept and user profile, and the inner state if the draft changes it.

    Return the title of the entry.
    """
    companion, messages, understanding = material.companion, material.messages, drafts.understanding
    if drafts.diary is None:
        return ""
    diary, words = keep_verified(drafts.diary, drafts.words), drafts.words
    # What the companion wrote before, perhaps for weeks, did not begin the talk.
    began_at = next(message.said_at for message in messages if message.role == Message.Role.USER)
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
        session_id=material.session.pk, started_at=began_at, ended_at=ended_at, written=written
    )
    entry = keep_session(companion.pk, ended, now, companion.user.zone)
    if diary.call_id is None:
        rewrite(entry, now, is_stale=True, next_at=now + DIARY_DELAY)
    was_asked = understanding is not None and understanding.call_id is not None
    has_nothing_new = understanding is None and material.understood_until and material.is_understanding_due
    # Even if nothing was learnt, so that the same messages are not shown again at each later closing. But if it was left
    # out, the next closing asks about them.
    if was_asked or has_nothing_new:
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
    """Record until when self-concept and profile were reviewed: for the companion and, if the material is of a past,
    for that; then a later time that is recorded for the companion stays.
    """
    mine = Companion.objects.filter(pk=material.companion.pk)
    if material.past:
        PastImport.objects.filter(pk=material.past.pk).update(understood_until=until_at)
        mine = mine.filter(Q(understood_until=None) | Q(understood_until__lt=until_at))
    mine.update(understood_until=until_at)


def _end_session(closing: Closing, now: datetime) -> None:
    """End the session and the closing; move messages said since into a new session."""
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
        enqueue("companions.tasks.go_on_with_pasts")
