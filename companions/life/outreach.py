"""What a person has not read yet, and reaching them with it elsewhere: each channel and address at most once."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from smtplib import SMTPException
from typing import Protocol
from uuid import UUID

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.db import transaction
from django.db.models import Count, F, Max, Q, QuerySet
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from companions.events import notify_unread_changed
from companions.life.eligibility import get_next_time, is_within
from companions.models import Companion, Conversation, Delivery, Life, Message


def count_unread(user: User) -> dict[UUID, int]:
    """Count the unread messages of each companion, those without any left out; one query."""
    said = Message.objects.owned_by(user).exclude(role=Message.Role.USER).filter(job=None)
    unread = said.filter(said_at__gt=F("conversation__read_until"))
    return dict(unread.values_list("companion").annotate(Count("pk")))


def mark_read(companion: Companion, until: datetime) -> bool:
    """Mark all that was said until then as read; return whether anything was not. Nothing is ever unread again."""
    unread = Conversation.objects.filter(companion=companion, read_until__lt=until)
    is_new = bool(unread.update(read_until=until))
    if is_new:
        notify_unread_changed(companion.user_id)
    return is_new


log = structlog.get_logger(__name__)
CLAIMED_AT_ONCE = 200
LEASE_TIME = timedelta(minutes=10)  # then another sends what is left of it
State = Delivery.State


@dataclass(frozen=True, slots=True)
class Sent:
    """Whether deliveries went out, else the code of what went wrong."""

    error: str = ""


class Channel(Protocol):
    """A way to reach people. `gathers`: all that waits for a person goes at once, not more often than every `pause`.

    `tells_answers`: answers go this way too, where they were long in coming and nobody looks.
    """

    name: str
    gathers: bool
    tells_answers: bool
    after: timedelta  # how long it waits: who reads meanwhile is not reached this way
    pause: timedelta

    def find_obstacle(self) -> str:
        """Return why nobody is reached this way on this Kith, in the active language; nothing where they are."""

    def wanted(self, life: Life) -> bool:
        """Return whether the person wants this companion's messages this way."""

    def addresses(self, user: User) -> Sequence[str]:
        """Return the person's addresses, by ids of the channel's own."""

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        """Send these, all of one person and address; nothing is raised. Their messages and companions are loaded."""


channels: dict[str, Channel] = {}


def register(channel: Channel) -> None:
    """Reach people by the channel from now on."""
    channels[channel.name] = channel


def deliver(message: Message, now: datetime, *, is_answer: bool = False) -> list[Delivery]:
    """Make the deliveries of what the companion wrote, of itself or as an answer, in the transaction that saves it."""
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


def send_due_deliveries(now: datetime) -> int:
    """Send what is due; return how many went out.

    Whoever dies in it leaves them attempted, and nobody sends them again.
    """
    count = 0
    for channel in channels.values():
        claimed = sorted(_claim(channel, now), key=_get_recipient)
        for _recipient, group in groupby(claimed, key=_get_recipient):
            theirs = list(group)
            for batch in [theirs] if channel.gathers else [[delivery] for delivery in theirs]:
                count += _send(channel, _mark_attempted(batch, now), now)
    return count


def _get_recipient(delivery: Delivery) -> tuple[int, str]:
    return delivery.companion.user_id, delivery.destination


@transaction.atomic
def _claim(channel: Channel, now: datetime) -> list[Delivery]:
    """Return what is due and still wanted, for some minutes nobody else's; what was read or muted is dropped."""
    waiting = Delivery.objects.filter(channel=channel.name, state=State.WAITING)
    due = Q(due_at__lte=now)
    if channel.gathers:  # what is not due yet goes with what is
        _postpone_recent(waiting, channel, now)
        due |= Q(companion__user__in=waiting.filter(due).values("companion__user"))
    rows = waiting.filter(due).select_for_update(of=("self",), skip_locked=True).order_by("due_at")
    related = ("message__waking", "companion__user", "companion__life", "companion__conversation")
    claimed = []
    for delivery in rows.select_related(*related)[:CLAIMED_AT_ONCE]:
        if not _is_wanted(delivery, channel):
            _mark([delivery], State.DROPPED, ended_at=now)
        elif morning := _get_end_of_night(delivery, now):
            _mark([delivery], State.WAITING, due_at=morning)
        else:
            claimed.append(delivery)
    _mark(claimed, State.WAITING, due_at=now + LEASE_TIME)
    return claimed


def _get_end_of_night(delivery: Delivery, now: datetime) -> datetime | None:
    """Return the end of the quiet hours that began since it was said; what was asked for does not wait for that."""
    life, waking = delivery.companion.life, delivery.message.waking
    local = now.astimezone(delivery.companion.user.zone)
    is_asked_for = waking is None or waking.is_asked_for  # an answer is
    if is_asked_for or not is_within(life.quiet_from, life.quiet_until, local.time()):
        return None
    return get_next_time(life.quiet_until, local)


def _postpone_recent(waiting: QuerySet[Delivery], channel: Channel, now: datetime) -> None:
    """Let who was written to a short while ago wait until the pause is over. What is being deleted is left to that."""
    recent = Delivery.objects.filter(channel=channel.name, attempted_at__gt=now - channel.pause)
    for user_id, at in recent.values_list("companion__user").annotate(Max("attempted_at")):
        early = waiting.filter(companion__user=user_id, due_at__lt=at + channel.pause)
        ids = list(early.select_for_update(of=("self",), skip_locked=True).values_list("pk", flat=True))
        Delivery.objects.filter(pk__in=ids).update(due_at=at + channel.pause)


def _is_wanted(delivery: Delivery, channel: Channel) -> bool:
    companion = delivery.companion
    if not companion.user.is_active:
        return False
    is_unread = delivery.message.said_at > companion.conversation.read_until
    return is_unread and not companion.life.is_muted and channel.wanted(companion.life)


@transaction.atomic
def _mark_attempted(deliveries: Sequence[Delivery], now: datetime) -> list[Delivery]:
    """Return those that are still ours, marked right before they are attempted: who dies leaves the others to others."""
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
    _mark(deliveries, State.FAILED if sent.error else State.SENT, ended_at=now, error=sent.error)
    return 0 if sent.error else len(deliveries)


def _mark(deliveries: Collection[Delivery], state: State, **fields: object) -> None:
    ids = [delivery.pk for delivery in deliveries]
    Delivery.objects.filter(pk__in=ids).update(state=state, **fields)


class Email:
    """What companions wrote and nobody read, in one mail: a while after the message, at most every three hours."""

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
        return [""]  # a person has one, their account's

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        user = deliveries[0].companion.user
        lines = [
            {
                "name": delivery.message.sender,
                "text": delivery.message.text,
                "talk": f"{settings.KITH_URL}{reverse('talk', args=[delivery.companion_id])}",
                "settings": f"{settings.KITH_URL}{reverse('life_settings', args=[delivery.companion_id])}",
            }
            for delivery in sorted(deliveries, key=lambda delivery: delivery.message.said_at)
        ]
        with translation.override(user.language or "en"):
            if len(lines) == 1:
                subject = _("%(name)s wrote to you") % {"name": lines[0]["name"]}
            else:
                many = ngettext("%(count)d message for you", "%(count)d messages for you", len(lines))
                subject = many % {"count": len(lines)}
            text = render_to_string("life/email.txt", {"lines": lines})
        settings_page = f"{settings.KITH_URL}{reverse('life_settings', args=[deliveries[0].companion_id])}"
        headers = {"List-Unsubscribe": f"<{settings_page}>"}
        try:
            EmailMultiAlternatives(subject, text, to=[user.email], headers=headers).send()
        except (SMTPException, OSError):
            return Sent("mail_refused")
        return Sent()
