"""Run one waking: claim it, let the companion decide, end it in speech or silence. It can resume after any crash."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.db.models import F, Q

from companions.branches.marks import move_marks
from companions.conversations.messages import open_session, say
from companions.errors import LostOwnershipError
from companions.events import notify_companion, notify_person, notify_unread_changed, render_message
from companions.life.eligibility import Reason, find_next_look, find_refusal, find_skip_reason
from companions.life.outreach import deliver
from companions.life.wakings.context import WakingContext
from companions.life.wakings.decision import decide
from companions.life.wakings.reminders import goes_unread, write_reminder
from companions.models import Companion, Conversation, Message, Reply, Session, Timer, Waking
from companions.models.companion import hold, lock
from jobs.background import enqueue
from jobs.lease import MAX_ATTEMPTS, Clock, Lease, note_failures, retry_at
from memory.threads import settle_promises
from providers.errors import ProviderError
from providers.selection import preferring
from safety.outgoing import check_outgoing

log = structlog.get_logger(__name__)

FOUND_AT_ONCE = 200
LEASE_TIME = timedelta(minutes=5)  # longer than a model may take; each step renews it
# How long a model that is busy, hangs or fails is waited for before the reminder is sent without it.
REMINDER_PATIENCE = timedelta(minutes=1)
BUSY_DELAY = timedelta(seconds=15)  # before the next try while a reply or another waking is under way
CANCELLED = "cancelled"
# How many messages, and how long, a session lasts in which the person says nothing.
MAX_ALONE, MAX_TIME_ALONE = 16, timedelta(days=30)
Outcome = Waking.Outcome


def find_due(now: datetime) -> list[UUID]:
    """Return the ids of FOUND_AT_ONCE waiting wakings at most, due and held by no worker, longest due first."""
    waiting = Waking.objects.waiting().filter(look_at__lte=now).order_by("look_at")
    return list(waiting.values_list("pk", flat=True)[:FOUND_AT_ONCE])


def run(waking_id: UUID, clock: Clock, *, has_slot: bool = True) -> None:
    """Start or resume the waking if it is due and free. A failure is recorded, and the waking retried later.

    Unless it `has_slot`, no model is asked: a reminder that has waited for REMINDER_PATIENCE is sent without its
    companion's words, and any other waking is left as it is.
    """
    now = clock()
    row = Waking.objects.waiting().filter(pk=waking_id)
    if not has_slot:
        row = row.filter(created_at__lte=now - REMINDER_PATIENCE)
    lease = Lease.take(row, "look_at", clock, LEASE_TIME)
    if lease is None:
        return
    try:
        with (
            note_failures(lease, partial(_note_failure, lease), started_at=None),
            suppress(LostOwnershipError),
        ):
            _go_on(waking_id, lease, now, has_slot=has_slot)
    except IntegrityError:
        if Waking.objects.filter(pk=waking_id).exists():
            raise  # otherwise its companion was deleted while the model thought


def _go_on(waking_id: UUID, lease: Lease, now: datetime, *, has_slot: bool) -> None:
    related = ("companion__user", "companion__life", "companion__mind", "timer__message", "about__message")
    waking = Waking.objects.waiting().select_related(*related).filter(pk=waking_id).first()
    if waking is None:
        return
    with preferring(waking.companion.preference):
        _think_over(WakingContext(waking, waking.companion, lease), now, has_slot=has_slot)


def _think_over(context: WakingContext, now: datetime, *, has_slot: bool) -> None:
    waking, lease = context.waking, context.lease
    is_new = not (waking.steps or waking.text)
    if is_new and waking.is_asked_for and (later := find_next_look(waking, waking.companion, now)):
        lease.release(later)
        return
    reason = find_skip_reason(waking, waking.companion, now) if is_new else None
    is_bare = reason == Reason.NO_TOKENS or not (reason or has_slot) or (not reason and goes_unread(waking))
    reminder = write_reminder(context, now) if is_bare else ""
    if not (has_slot or reason or reminder or waking.text):
        lease.release(now)
        return
    if reason and not reminder:
        _end(context, state=Waking.State.SKIPPED, reason=reason)
        _drop_repetition(waking, reason)
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
    """Mark the waking as started, with the `reminder` as its text if given; return False if another one goes first.

    One that is under way does, and before one that nobody asked for, one that is due and was asked for. Of two wakings
    of a companion that are due at once, one thus waits, and then sees what the other has said.
    """
    waking = context.waking
    with context.held():
        at = context.lease.clock()
        others = Waking.objects.waiting().filter(companion=context.companion).exclude(pk=waking.pk)
        goes_first = Q(look_at__gt=at, started_at__isnull=False)
        if not waking.is_asked_for:
            goes_first |= Q(look_at__lte=at, is_asked_for=True)
        if others.filter(goes_first).exists():
            return False
        # A text kept from an earlier try is older than this one: what was said meanwhile may have answered it.
        context.write(started_at=waking.started_at or (waking.created_at if waking.text else now))
        if reminder and not waking.text:
            context.write(text=reminder, outcome=Outcome.REMINDED)
    return True


def _decide(context: WakingContext, now: datetime) -> str:
    """Return what is to be said, or "" for silence.

    If the model fails again or after long, stays busy, or says nothing although it was asked to, that is Kith's own
    reminder, if any. Any other failure of the model raises ProviderError.
    """
    text = ""
    try:
        text = decide(context, now)
    except ProviderError:
        waited = context.lease.clock() - context.waking.created_at
        is_in_vain = context.waking.attempts or waited >= REMINDER_PATIENCE
        if not is_in_vain or not write_reminder(context, now):
            raise
    reminder = "" if text else write_reminder(context, now)
    if reminder:
        context.write(text=reminder, emotions=[], outcome=Outcome.REMINDED)
    return text or reminder


def _end(context: WakingContext, **fields: str) -> None:
    """End the waking without a message, with these fields."""
    context.lease.release(None, ended_at=context.lease.clock(), **{"reason": "", **fields})
    _log_end(context, **fields)


def _drop_repetition(waking: Waking, reason: Reason) -> None:
    """Delete the timer's waking before this one if it was skipped for the same reason, unless it was asked for.

    So the log tells once, not twice a day, that e.g. nobody has talked.
    """
    if waking.timer is None or waking.is_asked_for:
        return
    earlier = Waking.objects.filter(timer=waking.timer, due_at__lt=waking.due_at)
    before = earlier.order_by("-due_at").first()
    is_skipped = before is not None and before.state == Waking.State.SKIPPED and not before.started_at
    if before and is_skipped and before.reason == reason:
        before.delete()


def _log_end(context: WakingContext, **fields: str) -> None:
    log.info("waking_ended", **_identify(context), **{name: str(value) for name, value in fields.items()})


def _identify(context: WakingContext) -> dict[str, str]:
    return {"waking_id": str(context.waking.pk), "companion_id": str(context.companion.pk)}


def _note_failure(lease: Lease, code: str) -> None:
    """Count the failed attempt and schedule the next; after the last one, fail the waking and log an error."""
    lease.held_row.update(attempts=F("attempts") + 1, reason=code)
    waking = lease.held_row.first()
    if waking is None:
        return
    if waking.attempts < MAX_ATTEMPTS:  # meanwhile other wakings of the companion need not wait for it
        lease.release(retry_at(waking.attempts, lease.clock()), started_at=None)
        return
    lease.release(None, state=Waking.State.FAILED, ended_at=lease.clock())
    log.error("waking_failed", waking_id=str(waking.pk), companion_id=str(waking.companion_id), code=code)


# -- saying something unprompted: once, in one transaction, if that is allowed


def speak(context: WakingContext, text: str, now: datetime) -> Outcome | None:
    """Post the text, or hold it back, end the waking and return the outcome.

    Return None, with nothing changed, if a reply is under way: the caller tries again later. Text that is held back
    stays on the waking with the reason. Raise LostOwnershipError if another worker took over.
    """
    waking = context.waking
    if _is_answering(context.companion):
        return None
    # The check may ask a model, so it runs without a lock; refusals are looked for once more under the lock.
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
            message_id = post_message(companion, waking, words, now, is_notice=is_notice)
            if waking.is_asked_for:
                zone, names = companion.user.zone, companion.names
                settle_promises(companion.pk, context.note, message_id, now=now, zone=zone, names=names)
        outcome = Outcome.HELD if reason else Outcome.REMINDED if is_notice else Outcome.SPOKE
        ended = {"state": Waking.State.DONE, "outcome": outcome, "reason": reason, "ended_at": now}
        context.lease.release(None, text=words if reason else "", **ended)  # otherwise the message has it
    return outcome


def _is_answering(companion: Companion) -> bool:
    return Reply.objects.open().filter(companion=companion).exists()


def post_message(companion: Companion, waking: Waking, text: str, now: datetime, *, is_notice: bool) -> UUID:
    """Append the message to the conversation, create its deliveries, and notify open sockets after the commit. Return
    its id.

    A notice has Kith as its author: it becomes no memory, and nothing is learnt from it.
    """
    conversation = companion.conversation
    message = Message(
        companion=companion,
        conversation=conversation,
        session=_choose_session(conversation, now),
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
    return message.pk


def _choose_session(conversation: Conversation, now: datetime) -> Session:
    """Return the open session, or the next one if the person has said nothing in it for MAX_ALONE messages or
    MAX_TIME_ALONE.

    So what is said in a long absence is not learnt from, and does not fill the prompt when the person comes back.
    """
    session = open_session(conversation, now)
    said = Message.objects.filter(session=session)
    is_short = session.started_at > now - MAX_TIME_ALONE and said.count() < MAX_ALONE
    if is_short or said.filter(role=Message.Role.USER).exists():
        return session
    Session.objects.filter(pk=session.pk).update(ended_at=now, scratch="")
    return open_session(conversation, now)


def check_words(context: WakingContext, text: str, now: datetime) -> tuple[str, str]:
    """Return the words that may be said and "", or else the text and the rule that it breaks.

    If the text breaks a rule, Kith's own reminder replaces it, provided that one was asked for and breaks none itself.
    The reminder of a timer that the person wrote always passes.
    """
    rule = _find_broken_rule(context, text)
    reminder = write_reminder(context, now) if rule else ""
    timer = context.waking.timer
    is_theirs = timer is not None and timer.by == Timer.By.USER
    if reminder and (is_theirs or not _find_broken_rule(context, reminder)):
        return reminder, ""
    return text, rule


def _find_broken_rule(context: WakingContext, text: str) -> str:
    """Return the rule that the text breaks, or "". A broken rule is logged as a warning, without the words."""
    rule = check_outgoing(context.payer, text, is_asked_for=context.waking.is_asked_for)
    if rule:
        log.warning("held_back", **_identify(context), rule=rule)
    return rule


# -- by hand


@transaction.atomic
def cancel(waking: Waking, now: datetime) -> bool:
    """Cancel the waking if it still waits, and return whether it did. A worker that runs it stops."""
    lock(waking.companion_id)
    waiting = Waking.objects.waiting().filter(pk=waking.pk)
    ended = {"state": Waking.State.SKIPPED, "reason": CANCELLED, "look_at": None, "ended_at": now}
    return bool(waiting.update(**ended))


@transaction.atomic
def retry(waking: Waking, now: datetime) -> bool:
    """Restart the waking if it has failed, and return whether it had. Tool calls that it made are not repeated."""
    lock(waking.companion_id)
    failed = Waking.objects.filter(pk=waking.pk, state=Waking.State.FAILED)
    fresh = {"state": Waking.State.WAITING, "reason": "", "attempts": 0, "look_at": now, "ended_at": None}
    is_retried = bool(failed.update(**fresh))
    if is_retried:
        enqueue("companions.life.tasks.wake", str(waking.pk))
    return is_retried
