"""One closing, step by step: claimed, drafted by the model, written in one transaction. Killed anywhere, it goes on."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F

from accounts.usage import NO_TOKENS, waits_until
from companions.access import hold
from companions.deletion import delete_messages
from companions.life.inner_state import revise
from companions.life.reflection import read_feeling
from companions.models import Closing, InnerState, Job, Message, Session
from companions.sessions import digests
from companions.sessions.drafts import Draft, Material, draft, gather, mark
from companions.sessions.transcript import is_being_answered, said, size, talk_of
from jobs.lease import MAX_ATTEMPTS, RETRY_DELAY, Clock, Lease, Step, note_failures, nothing, retry_at
from memory.learning.answers import Learnt, Reflection
from memory.learning.diary import ClosedSession, keep_session
from memory.learning.neighbours import known_to
from memory.learning.verdicts import learn
from memory.models import Memory

log = structlog.get_logger(__name__)

BATCH = 200
MOST_DRAFTS = 3  # in one run: whoever deletes meanwhile need not be outrun


def due(now: datetime, most: int = BATCH) -> list[UUID]:
    """The closings that anybody may go on with now."""
    waiting = Closing.objects.open().filter(next_at__lte=now).order_by("next_at")
    return list(waiting.values_list("pk", flat=True)[:most])


def run(closing_id: UUID, now: datetime, step: Step = nothing, clock: Clock | None = None) -> None:
    """Go on with the closing if it is due. What goes wrong is written down, and it is tried again later.

    `now` is the time of what is written; leases and waits count from what the clock says then, else from `now`.
    """
    row = Closing.objects.open().filter(pk=closing_id)
    lease = Lease.take(row, "next_at", clock or (lambda: now), error="")
    if lease is None:
        return
    step("claimed")
    with note_failures(partial(_note_failure, lease)):
        if later := _go_on(closing_id, lease, now, step):
            lease.release(later.at, error=later.error)


@dataclass(frozen=True, slots=True)
class Later:
    """When it is gone on with, and what it waits for if that has a name."""

    at: datetime
    error: str = ""


def _go_on(closing_id: UUID, lease: Lease, now: datetime, step: Step) -> Later | None:
    """When to go on: an answer or tokens are awaited, or people changed what was said again and again; None when done."""
    for _try in range(MOST_DRAFTS):
        if end(closing_id, now, step):
            step("ended")
            return None
        fresh = _as_it_stands(closing_id)
        if fresh is None or is_being_answered(fresh.session, fresh.until_at):
            return Later(lease.clock() + RETRY_DELAY)
        if later := _draft(fresh, lease, now, step):
            return later
    return None if end(closing_id, now, step) else Later(lease.clock() + RETRY_DELAY)


def _draft(closing: Closing, lease: Lease, now: datetime, step: Step) -> Later | None:
    """Ask the model, after batches where more is not learnt yet than it could read at once; keep the draft.

    When to go on where it may not be asked now, else None.
    """
    material = gather(closing)
    step("gathered")
    while size(material.unlearnt) > material.room:
        if later := _held_up(closing, lease):
            return later
        if not digests.learn_batch(closing.session, now, step, closing.until_at):
            return None
        closing.session.refresh_from_db(fields=["summary", "summarised_until"])
        material = gather(closing)
    if later := _held_up(closing, lease):
        return later
    made = draft(material, now)
    step("asked")
    keep_draft(closing.pk, made, material)
    step("drafted")
    return None


def _held_up(closing: Closing, lease: Lease) -> Later | None:
    """Why the model may not be asked now: another worker is at it, or the day's tokens are used up."""
    if not lease.renew():
        return Later(lease.clock())
    user, is_asked_for = closing.companion.user, closing.job_id is not None
    tomorrow = waits_until(user, lease.clock(), is_asked_for=is_asked_for)
    return Later(tomorrow, NO_TOKENS) if tomorrow else None


def _as_it_stands(closing_id: UUID) -> Closing | None:
    related = Closing.objects.open().select_related(
        "session__companion__user", "companion__user", "companion__conversation"
    )
    return related.filter(pk=closing_id).first()


def _note_failure(lease: Lease, code: str) -> None:
    """Count the try; after the last one the operator is told, and the session stays open until it is asked anew."""
    lease.held_row.update(attempts=F("attempts") + 1, error=code, drafts={}, seen=[])
    closing = lease.held_row.first()
    if closing is None:
        return
    if closing.attempts < MAX_ATTEMPTS:
        lease.release(retry_at(closing.attempts, lease.clock()))
        return
    Job.objects.filter(closing=closing).update(error=code)
    lease.held_row.update(state=Closing.State.FAILED, ended_at=lease.clock())
    log.error(
        "session_not_closed", closing_id=str(closing.pk), companion_id=str(closing.companion_id), code=code
    )


@transaction.atomic
def end(closing_id: UUID, now: datetime, step: Step = nothing) -> bool:
    """Whether the closing is done, or there is nothing left to close; False where it must be drafted (anew)."""
    closing = _held(closing_id)
    if closing is None:
        return True
    material = gather(closing)
    if closing.is_forgetful:
        forget(closing, now)
    elif not material.is_worth_telling:
        end_session(closing, now)
    else:
        return _write(closing, material, now, step)
    return True


@transaction.atomic
def keep_draft(closing_id: UUID, draft: Draft, material: Material) -> None:
    """Keep what the model has made of a session, if that still holds the same: nothing deleted comes back so."""
    closing = _held(closing_id)
    if closing and gather(closing).seen == material.seen and _known(closing, draft) is not None:
        closing.drafts, closing.seen = asdict(draft), material.seen
        closing.save(update_fields=["drafts", "seen"])


def _held(closing_id: UUID) -> Closing | None:
    """The closing as it waits, with its companion locked; None where it is done or gone."""
    companion_id = Closing.objects.filter(pk=closing_id).values_list("companion_id", flat=True).first()
    companion = hold(companion_id) if companion_id else None
    closing = Closing.objects.open().filter(pk=closing_id).select_related("session").first()
    if closing and companion:
        closing.companion = companion
    return closing if companion else None


def _write(closing: Closing, material: Material, now: datetime, step: Step) -> bool:
    """Whether there was a draft that still fits."""
    draft = Draft.of(closing)
    known = _known(closing, draft) if draft and closing.seen == material.seen else None
    if draft is None or known is None:
        Closing.objects.filter(pk=closing.pk).update(drafts={}, seen=[])
        return False
    step("writing")
    _learn(closing, material, draft, known, now)
    step("learnt")
    _keep(closing, material, draft, now)
    step("kept")
    closing.session.title = draft.title
    end_session(closing, now)
    step("written")
    return True


def _known(closing: Closing, draft: Draft) -> list[Memory] | None:
    """What the model was shown beside the talk, by its numbers; None where some of it may not be shown any more."""
    ids = [one.split()[0] for one in draft.known]
    there = {mark(one): one for one in known_to(closing.companion_id).filter(pk__in=ids)}
    known = [there[one] for one in draft.known if one in there]
    return known if len(known) == len(draft.known) else None


def _learn(
    closing: Closing, material: Material, draft: Draft, known: Sequence[Memory], now: datetime
) -> None:
    companion, by_id = closing.companion, {str(one.pk): one for one in material.messages}
    zone = companion.user.zone
    learn(
        companion.pk,
        talk_of(companion.pk, [by_id[id] for id in draft.lines], zone, material.room),
        [Learnt.model_validate(one) for one in draft.memories],
        known,
        now=now,
        zone=zone,
        names=companion.names,
        session_id=closing.session_id,
        call_id=draft.call_id,
    )
    Message.objects.filter(pk__in=by_id).update(is_learnt=True)


def _keep(closing: Closing, material: Material, draft: Draft, now: datetime) -> None:
    ended = ClosedSession(
        session_id=closing.session_id,
        started_at=material.messages[0].said_at,
        ended_at=material.messages[-1].said_at,
        written=draft,
    )
    keep_session(closing.companion_id, ended, now, closing.companion.user.zone)
    if draft.inner_state:
        _feel(material, Reflection.model_validate(draft.inner_state), draft.call_id, now)


def _feel(material: Material, felt: Reflection, call_id: int | None, now: datetime) -> None:
    revise(
        material.companion.pk,
        felt.text,
        read_feeling(felt),
        by=InnerState.By.CLOSING,
        now=now,
        seen=[one.pk for one in material.messages],
        until_at=material.messages[-1].said_at,
        call_id=call_id,
    )


def end_session(closing: Closing, now: datetime) -> None:
    """The session ends, the closing is done; what was said since is the next session's. Call it in a transaction."""
    session = closing.session
    later = Message.objects.filter(session=session).exclude(
        pk__in=said(session, closing.until_at).values("pk")
    )
    ids = list(later.order_by("said_at", "id").values_list("pk", flat=True))
    session.ended_at, session.scratch = closing.until_at, ""
    session.unsent, session.pressure, session.digest_at = 0, 0.0, None
    session.save()
    if ids:
        _begin_next(session, ids)
    closing.state, closing.ended_at, closing.error = Closing.State.DONE, now, ""
    closing.drafts, closing.seen = {}, []
    closing.save()


def _begin_next(session: Session, ids: list[UUID]) -> None:
    messages = Message.objects.filter(pk__in=ids)
    first = messages.earliest("said_at", "id")
    following = Session.objects.create(
        companion_id=session.companion_id, conversation_id=session.conversation_id, started_at=first.said_at
    )
    messages.update(session=following)


def forget(closing: Closing, now: datetime) -> None:
    """Delete what the closing closes, with all that was drawn from it, and end the session. Call it in a transaction."""
    ids = list(said(closing.session, closing.until_at).values_list("pk", flat=True))
    delete_messages(closing.companion_id, ids, now)
    closing.session.summary = closing.session.title = ""
    end_session(closing, now)
