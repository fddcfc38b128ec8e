"""Unread messages, and their delivery over other channels, to each channel and address at most once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from operator import attrgetter
from smtplib import SMTPRecipientsRefused, SMTPResponseException
from typing import Protocol
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives, get_connection
from django.db import transaction
from django.db.models import Count, Exists, F, Max, Q, QuerySet, Subquery, Value
from django.db.models.functions import Greatest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from companions.events import notify_unread_changed
from companions.life.eligibility import TIMELY_FOR, find_end_of_quiet_hours
from companions.models import Companion, Conversation, Delivery, Life, Message

log = structlog.get_logger(__name__)
CLAIMED_AT_ONCE = 200
LEASE_TIME = timedelta(minutes=10)  # then another worker sends the rest
RETRY_DELAY = timedelta(minutes=15)  # of what was certainly not sent
# So long after its message, a delivery is not retried, nor one sent that nobody asked for.
KEPT_FOR = timedelta(days=2)
CLOCK_SKEW = timedelta(minutes=5)  # between machines; a time farther ahead is from a clock that was wrong
State = Delivery.State


# -- unread messages


def count_unread(user: User, now: datetime) -> dict[UUID, int]:
    """Return the number of unread messages by companion, for those that have any. Runs one query.

    What was said by a clock that was ahead, and cannot be marked as read before its time, is left out.
    """
    said = Message.objects.owned_by(user).exclude(role=Message.Role.USER).filter(job=None)
    unread = said.filter(said_at__gt=F("conversation__read_until"), said_at__lte=now + CLOCK_SKEW)
    return dict(unread.values_list("companion").annotate(Count("pk")))


def find_first_unread(conversation: Conversation, now: datetime) -> Message | None:
    """Return the first unprompted message that came while the person was away: they have neither read nor written since.

    Like the count, it leaves out what a clock that was ahead has said. Runs one query.
    """
    said = Message.objects.filter(companion=conversation.companion_id)
    wrote = said.filter(role=Message.Role.USER).order_by("-said_at").values("said_at")[:1]
    since = Greatest(Subquery(wrote), Value(conversation.read_until))  # who never wrote has read only
    unread = said.filter(waking__isnull=False, said_at__gt=since, said_at__lte=now + CLOCK_SKEW)
    return unread.order_by("said_at", "id").first()


def mark_read(companion: Companion, until: datetime) -> bool:
    """Mark everything said up to `until` as read; return False if it already was. Nothing read becomes unread again."""
    unread = Conversation.objects.filter(companion=companion, read_until__lt=until)
    is_new = bool(unread.update(read_until=until))
    if is_new:
        notify_unread_changed(companion.user_id)
    return is_new


# -- deliveries


@dataclass(frozen=True, slots=True)
class Sent:
    """The result of sending deliveries: an empty `error`, or the code of what went wrong.

    `is_postponed` if certainly nothing was sent and a later try may succeed; `is_down` if it would be so for everybody.
    """

    error: str = ""
    is_postponed: bool = False
    is_down: bool = False


class Channel(Protocol):
    """A way to reach people outside the talk. `gathers`: all that waits for a person is sent at once, at most once per
    `pause`. `tells_answers`: answers are delivered, too, if they took long and nobody watched them arrive.
    """

    name: str
    gathers: bool
    tells_answers: bool
    after: timedelta  # how long a delivery waits; it is dropped if the message is read meanwhile
    pause: timedelta

    def find_obstacle(self) -> str:
        """Return why this server cannot use the channel, in the active language; empty if it can."""

    def wanted(self, life: Life) -> bool:
        """Return whether the person wants this companion's messages over the channel."""

    def addresses(self, user: User) -> Sequence[str]:
        """Return the destinations of the user, as ids that the channel itself understands."""

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        """Send the deliveries, all to one user and destination, their messages and companions loaded. Never raises."""


channels: dict[str, Channel] = {}


def register(channel: Channel) -> None:
    """Add a channel over which people are reached."""
    channels[channel.name] = channel


def deliver(message: Message, now: datetime, *, is_answer: bool = False) -> list[Delivery]:
    """Create the deliveries of a companion's message, unprompted or an answer, in the transaction that saves it."""
    companion = message.companion
    if companion.life.is_muted:
        return []
    waiting = [
        Delivery(
            companion=companion,
            message=message,
            channel=channel.name,
            destination=address,
            due_at=now + channel.after,
        )
        for channel in channels.values()
        if (channel.tells_answers or not is_answer) and channel.wanted(companion.life)
        for address in channel.addresses(companion.user)
    ]
    return Delivery.objects.bulk_create(waiting, ignore_conflicts=True)


def find_recipients(now: datetime) -> list[int]:
    """Return the ids of the users who have deliveries that are due."""
    due = Delivery.objects.filter(state=State.WAITING, due_at__lte=now)
    return list(due.order_by("companion__user").values_list("companion__user", flat=True).distinct())


def send_due_deliveries(now: datetime, user_id: int) -> int:
    """Send the user's deliveries that are due; return how many were sent.

    If the process dies while sending, the deliveries stay marked as attempted and are not sent again.
    """
    count = 0
    for channel in channels.values():
        claimed = sorted(_claim(channel, now, user_id), key=attrgetter("destination"))
        for _destination, group in groupby(claimed, key=attrgetter("destination")):
            theirs = list(group)
            for batch in [theirs] if channel.gathers else [[delivery] for delivery in theirs]:
                count += _send(channel, _mark_attempted(batch, now), now)
    return count


@transaction.atomic
def _claim(channel: Channel, now: datetime, user_id: int) -> list[Delivery]:
    """Lease and return the user's deliveries that are due and still wanted; drop those that are not wanted any more.

    Those that quiet hours forbid now are postponed until these end.
    """
    theirs = Delivery.objects.filter(channel=channel.name, companion__user=user_id)
    waiting, due = theirs.filter(state=State.WAITING), Q(due_at__lte=now)
    if channel.gathers:  # deliveries that are not due yet are sent with those that are
        _postpone_recent(theirs, channel, now)
        due |= Q(Exists(waiting.filter(due)))
    rows = waiting.filter(due).select_for_update(of=("self",), skip_locked=True).order_by("due_at")
    related = ("message__waking", "companion__user", "companion__life", "companion__conversation")
    claimed = []
    for delivery in rows.select_related(*related)[:CLAIMED_AT_ONCE]:
        if not _is_wanted(delivery, channel, now):
            _mark([delivery], State.DROPPED, ended_at=now)
        elif morning := _get_end_of_night(delivery, now):
            _mark([delivery], State.WAITING, due_at=morning)
        else:
            claimed.append(delivery)
    _mark(claimed, State.WAITING, due_at=now + LEASE_TIME)
    return claimed


def _get_end_of_night(delivery: Delivery, now: datetime) -> datetime | None:
    """Return when the current quiet hours end, or None outside them and for messages that were asked for.

    A reminder that comes late by more than TIMELY_FOR, since Kith was off, was not asked for at this time of the night.
    """
    waking = delivery.message.waking
    is_late = waking is not None and delivery.message.said_at - waking.due_at > TIMELY_FOR
    is_timely = _is_asked_for(delivery) and not is_late
    return None if is_timely else find_end_of_quiet_hours(delivery.companion.life, now)


def _is_asked_for(delivery: Delivery) -> bool:
    """Return whether the person asked for the message; an answer, which has no waking, is asked for."""
    waking = delivery.message.waking
    return waking is None or waking.is_asked_for


def _postpone_recent(theirs: QuerySet[Delivery], channel: Channel, now: datetime) -> None:
    """Postpone a user's deliveries until the channel's pause is over since it reached them, or tried to."""
    recent = theirs.filter(attempted_at__range=(now - channel.pause, now)).aggregate(at=Max("attempted_at"))
    if recent["at"]:
        _postpone(theirs, recent["at"] + channel.pause)


@transaction.atomic
def _postpone(deliveries: QuerySet[Delivery], until: datetime) -> None:
    """Postpone those of the deliveries that wait and are due before, also those that another worker has leased.

    Rows that are locked, e.g. since they are being deleted, are skipped.
    """
    early = deliveries.filter(state=State.WAITING, due_at__lt=until)
    ids = list(early.select_for_update(of=("self",), skip_locked=True).values_list("pk", flat=True))
    Delivery.objects.filter(pk__in=ids).update(due_at=until)


def _is_wanted(delivery: Delivery, channel: Channel, now: datetime) -> bool:
    companion = delivery.companion
    is_stale = now - delivery.message.said_at >= KEPT_FOR and not _is_asked_for(delivery)  # e.g. Kith was off
    if is_stale or not companion.user.is_active:
        return False
    is_unread = delivery.message.said_at > companion.conversation.read_until
    return is_unread and not companion.life.is_muted and channel.wanted(companion.life)


@transaction.atomic
def _mark_attempted(deliveries: Sequence[Delivery], now: datetime) -> list[Delivery]:
    """Mark the deliveries that this worker still leases as attempted, right before they are sent; return them.

    If the worker dies, another one sends those that are not marked.
    """
    ours = Delivery.objects.filter(
        pk__in=[delivery.pk for delivery in deliveries], state=State.WAITING, due_at=now + LEASE_TIME
    )
    ids = set(ours.select_for_update().values_list("pk", flat=True))
    mine = [delivery for delivery in deliveries if delivery.pk in ids]
    _mark(mine, State.ATTEMPTED, attempted_at=now)
    return mine


def _send(channel: Channel, deliveries: Sequence[Delivery], now: datetime) -> int:
    if not deliveries:
        return 0
    sent = channel.send(deliveries, now)
    if sent.error:
        log.warning("not_reached", channel=channel.name, code=sent.error)
    ended, later = list(deliveries), now + RETRY_DELAY
    if sent.is_postponed:
        ended = [delivery for delivery in deliveries if now - delivery.message.said_at >= KEPT_FOR]
        tried_again = [delivery for delivery in deliveries if delivery not in ended]
        _mark(tried_again, State.WAITING, due_at=later, attempted_at=None, error=sent.error)
    if sent.is_down:
        _postpone(Delivery.objects.filter(channel=channel.name), later)  # everyone's
    _mark(ended, State.FAILED if sent.error else State.SENT, ended_at=now, error=sent.error)
    return 0 if sent.error else len(ended)


def _mark(deliveries: Collection[Delivery], state: State, **fields: object) -> None:
    ids = [delivery.pk for delivery in deliveries]
    Delivery.objects.filter(pk__in=ids).update(state=state, **fields)


class Email:
    """Sends a person's unread messages in one mail, a while after they were said, at most every three hours."""

    name = "email"
    gathers = True
    tells_answers = False
    after = timedelta(minutes=15)
    pause = timedelta(hours=3)

    def find_obstacle(self) -> str:
        return (
            "" if settings.EMAIL_URL else _("This Kith does not send e-mail. Its operator can set that up.")
        )

    def wanted(self, life: Life) -> bool:
        return life.by_email

    def addresses(self, user: User) -> Sequence[str]:
        return [""]  # the only destination: the account's address

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        user = deliveries[0].companion.user
        told = sorted(deliveries, key=lambda delivery: delivery.message.said_at)
        # The links stand once for each companion.
        last = {delivery.companion_id: delivery.pk for delivery in told}
        lines = [
            {
                "name": delivery.message.sender,
                "text": delivery.message.text,
                "talk": f"{settings.KITH_URL}{reverse('talk', args=[delivery.companion_id])}",
                "settings": f"{settings.KITH_URL}{reverse('life_settings', args=[delivery.companion_id])}",
                "is_last": delivery.pk == last[delivery.companion_id],
            }
            for delivery in told
        ]
        with user.use_language():
            if len(lines) == 1:
                subject = _("%(name)s wrote to you") % {"name": lines[0]["name"]}
            else:
                many = ngettext("%(count)d message for you", "%(count)d messages for you", len(lines))
                subject = many % {"count": len(lines)}
            text = render_to_string("life/email.txt", {"lines": lines})
        settings_page = f"{settings.KITH_URL}{reverse('life_settings', args=[deliveries[0].companion_id])}"
        headers = {"List-Unsubscribe": f"<{settings_page}>"}
        server = get_connection()
        try:
            server.open()
        except OSError:  # also SMTPException, e.g. if it does not let Kith in
            return Sent("mail_unreachable", is_postponed=True, is_down=True)
        letter = EmailMultiAlternatives(subject, text, to=[user.email], headers=headers, connection=server)
        try:
            letter.send()
        except OSError as error:
            return Sent("mail_refused", is_postponed=_is_refused_for_now(error))
        finally:
            server.close()
        return Sent()


def _is_refused_for_now(error: OSError) -> bool:
    """Return whether the mail server refused the mail with codes that ask for a later try, e.g. by greylisting."""
    codes: list[int] = []
    if isinstance(error, SMTPRecipientsRefused):
        codes = [code for code, _words in error.recipients.values()]
    elif isinstance(error, SMTPResponseException):
        codes = [error.smtp_code]
    return bool(codes) and all(400 <= code < 500 for code in codes)
