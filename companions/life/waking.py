"""One waking, step by step: claimed, thought over, ended in speech or in silence. Killed anywhere, it goes on."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F

from companions.branches.marks import move_marks
from companions.conversations.messages import open_session, say
from companions.errors import LostOwnershipError
from companions.events import notify_companion, notify_person, notify_unread_changed, render_message
from companions.life.decision import decide
from companions.life.eligibility import Reason, find_refusal, find_skip_reason
from companions.life.outreach import deliver
from companions.life.reminders import write_reminder
from companions.life.waking_context import WakingContext
from companions.models import Companion, Conversation, Message, Reply, Timer, Waking
from companions.models.companion import hold, lock
from jobs.background import enqueue
from jobs.lease import MAX_ATTEMPTS, Clock, Lease, note_failures, retry_at
from providers.errors import ProviderBusy, ProviderError
from providers.preference import preferring
from safety.outgoing import check_outgoing

log = structlog.get_logger(__name__)

FOUND_AT_ONCE = 200
LEASE_TIME = timedelta(minutes=5)  # longer than a model may take; each step renews it
REMINDER_PATIENCE = timedelta(
    minutes=1
)  # in which a reminder is tried again while the model is busy with talk
BUSY_DELAY = timedelta(seconds=15)  # until it is tried again to say something where a reply is made
CANCELLED = "cancelled"
Outcome = Waking.Outcome


def find_due(now: datetime, limit: int = FOUND_AT_ONCE) -> list[UUID]:
    """Return the wakings that anybody may go on with now."""
    waiting = Waking.objects.waiting().filter(look_at__lte=now).order_by("look_at")
    return list(waiting.values_list("pk", flat=True)[:limit])


def run(waking_id: UUID, now: datetime, clock: Clock | None = None) -> None:
    """Go on with the waking if it is due. What goes wrong is written down, and it is tried again later.

    `now` is the time that the companion is told; leases, waits, and what is written count from what the clock says then,
    else from `now`.
    """
    row = Waking.objects.waiting().filter(pk=waking_id)
    lease = Lease.take(row, "look_at", clock or (lambda: now), LEASE_TIME)
    if lease is None:
        return
    try:
        with (
            note_failures(lease, partial(_note_failure, lease), started_at=None),
            suppress(LostOwnershipError),
        ):
            _go_on(waking_id, lease, now)
    except IntegrityError:
        if Waking.objects.filter(pk=waking_id).exists():
            raise  # else its companion was deleted while the model thought


def _go_on(waking_id: UUID, lease: Lease, now: datetime) -> None:
    related = ("companion__user", "companion__life", "companion__mind", "timer__message", "about__message")
    waking = Waking.objects.waiting().select_related(*related).filter(pk=waking_id).first()
    if waking is None:
        return
    with preferring(waking.companion.preference):
        _think_over(WakingContext(waking, waking.companion, lease), now)


def _think_over(context: WakingContext, now: datetime) -> None:
    waking, lease = context.waking, context.lease
    reason = None if waking.steps or waking.text else find_skip_reason(waking, waking.companion, now)
    reminder = write_reminder(context, now) if reason == Reason.NO_TOKENS else ""
    if reason and not reminder:
        _end(context, state=Waking.State.SKIPPED, reason=reason)
        return
    if not _begin(context, reminder, now):
        lease.release(lease.clock() + BUSY_DELAY, started_at=None)
        return
    text = waking.text or _decide(context, now)
    if not text:
        _end(context, state=Waking.State.DONE, outcome=Outcome.SILENT)
    elif outcome := speak(context, text, lease.clock()):
        _log_end(context, state=Waking.State.DONE, outcome=outcome)
    else:
        lease.release(lease.clock() + BUSY_DELAY)


def _begin(context: WakingContext, reminder: str, now: datetime) -> bool:
    """Return whether this waking has begun: no other one of the companion is under way.

    Of two that are due in the same second one waits, and then sees what the other has said.
    """
    waking = context.waking
    with context.held():
        others = Waking.objects.waiting().filter(companion=context.companion, started_at__isnull=False)
        if others.filter(look_at__gt=context.lease.clock()).exclude(pk=waking.pk).exists():
            return False
        context.write(started_at=waking.started_at or now)
        if reminder and not waking.text:
            context.write(text=reminder, outcome=Outcome.REMINDED)
    return True


def _decide(context: WakingContext, now: datetime) -> str:
    """Return what is to be said, and nothing for silence.

    Where the model fails again, stays busy, or has no word for what it was asked for, it is Kith's reminder.
    """
    text = ""
    try:
        text = decide(context, now)
    except ProviderError as error:
        waited = context.lease.clock() - context.waking.created_at
        is_in_vain = context.waking.attempts or (
            isinstance(error, ProviderBusy) and waited >= REMINDER_PATIENCE
        )
        if not is_in_vain or not write_reminder(context, now):
            raise
    reminder = "" if text else write_reminder(context, now)
    if reminder:
        context.write(text=reminder, emotions=[], outcome=Outcome.REMINDED)
    return text or reminder


def _end(context: WakingContext, **fields: str) -> None:
    """End it where it has said nothing."""
    context.lease.release(None, ended_at=context.lease.clock(), **{"reason": "", **fields})
    _log_end(context, **fields)


def _log_end(context: WakingContext, **fields: str) -> None:
    log.info("waking ended", **_name(context), **{name: str(value) for name, value in fields.items()})


def _name(context: WakingContext) -> dict[str, str]:
    return {"waking_id": str(context.waking.pk), "companion_id": str(context.companion.pk)}


def _note_failure(lease: Lease, code: str) -> None:
    """Count the try; after the last one the operator is told, and the companion has not woken."""
    lease.held_row.update(attempts=F("attempts") + 1, reason=code)
    waking = lease.held_row.first()
    if waking is None:
        return
    if waking.attempts < MAX_ATTEMPTS:  # until then others of the companion need not wait for it
        lease.release(retry_at(waking.attempts, lease.clock()), started_at=None)
        return
    lease.release(None, state=Waking.State.FAILED, ended_at=lease.clock())
    log.error("waking_failed", waking_id=str(waking.pk), companion_id=str(waking.companion_id), code=code)


# -- saying something unprompted: once, in one transaction, where that is wanted


def speak(context: WakingContext, text: str, now: datetime) -> Outcome | None:
    """Return what became of it; None where a reply is being made or waits: nothing has changed, and it is said later.

    Where it is held back, the text stays on the waking, with the reason. LostOwnershipError where another has taken over.
    """
    waking = context.waking
    if _is_answering(context.companion):
        return None
    # The check may ask a model, so that no lock is held meanwhile; it is looked for refusals again under the lock.
    refusal = find_refusal(context.companion, waking, now)
    words, broken_rule = (text, "") if refusal else check_words(context, text, now)
    with context.held():
        companion = hold(context.companion.pk)
        assert companion is not None  # noqa: S101 (its waking is there)
        if _is_answering(companion):
            return None
        reason = find_refusal(companion, waking, now) or refusal or broken_rule
        is_notice = words != text or waking.outcome == Outcome.REMINDED
        if not reason:
            _post_message(companion, waking, words, now, is_notice=is_notice)
        outcome = Outcome.HELD if reason else Outcome.REMINDED if is_notice else Outcome.SPOKE
        ended = {"state": Waking.State.DONE, "outcome": outcome, "reason": reason, "ended_at": now}
        context.lease.release(None, text=words if reason else "", **ended)  # else the message says it
    return outcome


def _is_answering(companion: Companion) -> bool:
    return Reply.objects.filter(companion=companion, state__in=Reply.OPEN).exists()


def _post_message(companion: Companion, waking: Waking, text: str, now: datetime, *, is_notice: bool) -> None:
    """Say it at the end of the talk, and tell whoever listens after the commit; others may be reached elsewhere.

    A notice is Kith's own word: it is no memory, and nothing is learnt from it.
    """
    conversation = companion.conversation
    message = Message(
        companion=companion,
        conversation=conversation,
        session=open_session(conversation, now),
        parent_id=conversation.head_id,
        role=Message.Role.SYSTEM if is_notice else Message.Role.ASSISTANT,
        author=Message.KITH if is_notice else companion.name,
        text=text,
        said_at=now,
        waking=waking,
        is_rehearsed=waking.is_rehearsed and not is_notice,
        model="" if is_notice else waking.model,
        is_stand_in=waking.is_stand_in and not is_notice,
    )
    say(message, now)
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    move_marks(companion.pk, {waking.pk: message.pk})
    deliver(message, now)
    frame = render_message(message)
    emotions = [] if is_notice else waking.emotions
    notify_companion(companion.pk, {"type": "message.said", "message": frame, "emotions": emotions})
    shown = {name: frame[name] for name in ("id", "role", "text", "said_at")}
    sender = {"id": str(companion.pk), "name": companion.name}
    notify_person(companion.user_id, {"type": "outreach", "companion": sender, "message": shown})
    notify_unread_changed(companion.user_id)


def check_words(context: WakingContext, text: str, now: datetime) -> tuple[str, str]:
    """Return the words that may be said, and no rule; else the text, and the rule for which it is held back.

    Of what the person asked for stays Kith's reminder, where its words pass; what they wrote themselves always does.
    """
    rule = _find_broken_rule(context, text)
    reminder = write_reminder(context, now) if rule else ""
    timer = context.waking.timer
    is_theirs = timer is not None and timer.by == Timer.By.USER
    if reminder and (is_theirs or not _find_broken_rule(context, reminder)):
        return reminder, ""
    return text, rule


def _find_broken_rule(context: WakingContext, text: str) -> str:
    """Return the rule that the text breaks; the operator is told of that, without the words."""
    rule = check_outgoing(context.payer, text, is_asked_for=context.waking.is_asked_for)
    if rule:
        log.warning("held_back", **_name(context), rule=rule)
    return rule


# -- by hand


@transaction.atomic
def cancel(waking: Waking, now: datetime) -> bool:
    """Return whether it still waited; then it does not happen, and whoever was at it stops."""
    lock(waking.companion_id)
    waiting = Waking.objects.waiting().filter(pk=waking.pk)
    ended = {"state": Waking.State.SKIPPED, "reason": CANCELLED, "look_at": None, "ended_at": now}
    return bool(waiting.update(**ended))


@transaction.atomic
def retry(waking: Waking, now: datetime) -> bool:
    """Return whether it had failed; then it waits anew, and what it had done already is not done again."""
    lock(waking.companion_id)
    failed = Waking.objects.filter(pk=waking.pk, state=Waking.State.FAILED)
    fresh = {"state": Waking.State.WAITING, "reason": "", "attempts": 0, "look_at": now, "ended_at": None}
    is_retried = bool(failed.update(**fresh))
    if is_retried:
        enqueue("companions.life.tasks.wake", str(waking.pk))
    return is_retried
