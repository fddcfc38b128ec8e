"""Reaching a person with a message that they may not see: each channel and address at most once."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby

import structlog
from django.db import transaction
from django.db.models import Max, Q, QuerySet

from companions.life.channels import Channel, channels
from companions.life.hours import next_time, within
from companions.models import Delivery, Message

log = structlog.get_logger(__name__)
BATCH = 200
LEASE = timedelta(minutes=10)  # then another sends what is left of it
State = Delivery.State


def deliver(message: Message, now: datetime) -> list[Delivery]:
    """The deliveries of a message that the companion wrote of itself. Call it in the transaction that saves it."""
    companion = message.companion
    if companion.life.is_muted:
        return []
    waiting = [
        Delivery(
            companion=companion,
            message=message,
            channel=one.name,
            destination=address,
            due_at=now + one.after,
        )
        for one in channels().values()
        if one.wanted(companion.life)
        for address in one.addresses(companion.user)
    ]
    return Delivery.objects.bulk_create(waiting, ignore_conflicts=True)


def send_due(now: datetime) -> int:
    """Send what is due; how many went out. Whoever dies in it leaves them attempted, and nobody sends them again."""
    return sum(_send(channel, now) for channel in channels().values())


def _send(channel: Channel, now: datetime) -> int:
    claimed = _claimed(channel, now)
    return sum(
        _send_together(channel, attempted, now)
        for _person, theirs in groupby(sorted(claimed, key=_whom), key=_whom)
        for together in _parts(channel, list(theirs))
        if (attempted := _attempted(together, now))
    )


def _parts(channel: Channel, deliveries: list[Delivery]) -> Iterable[list[Delivery]]:
    return [deliveries] if channel.gathers else [[one] for one in deliveries]


def _whom(delivery: Delivery) -> tuple[int, str]:
    return delivery.companion.user_id, delivery.destination


@transaction.atomic
def _claimed(channel: Channel, now: datetime) -> list[Delivery]:
    """What is due and still wanted, for some minutes nobody else's; what was read meanwhile, or muted, is dropped."""
    waiting = Delivery.objects.filter(channel=channel.name, state=State.WAITING)
    if channel.gathers:
        _put_off(waiting, channel, now)
    due = Q(due_at__lte=now)
    if channel.gathers:  # what is not due yet goes with what is
        ready = waiting.filter(due).values("companion__user")
        due |= Q(companion__user__in=ready)
    rows = waiting.filter(due).select_for_update(of=("self",), skip_locked=True).order_by("due_at")
    related = ("message__waking", "companion__user", "companion__life", "companion__conversation")
    found = list(rows.select_related(*related)[:BATCH])
    quiet = [one for one in found if _is_wanted(one, channel) and _put_off_by_night(one, now)]
    wanted = [one for one in found if one not in quiet and _is_wanted(one, channel)]
    _mark(wanted, State.WAITING, due_at=now + LEASE)
    _mark([one for one in found if one not in wanted and one not in quiet], State.DROPPED, ended_at=now)
    return wanted


def _put_off_by_night(delivery: Delivery, now: datetime) -> bool:
    """Whether it waits for the end of the quiet hours that began since it was said; what was asked for does not."""
    life, waking = delivery.companion.life, delivery.message.waking
    local = now.astimezone(delivery.companion.user.zone)
    if (waking and waking.is_asked_for) or not within(life.quiet_from, life.quiet_until, local.time()):
        return False
    _mark([delivery], State.WAITING, due_at=next_time(life.quiet_until, local))
    return True


def _put_off(waiting: QuerySet[Delivery], channel: Channel, now: datetime) -> None:
    """Who was written to a short while ago waits until the pause is over. What is being deleted is left to that."""
    lately = Delivery.objects.filter(channel=channel.name, attempted_at__gt=now - channel.pause)
    for user_id, at in lately.values_list("companion__user").annotate(Max("attempted_at")):
        soon = waiting.filter(companion__user=user_id, due_at__lt=at + channel.pause)
        ids = list(soon.select_for_update(of=("self",), skip_locked=True).values_list("pk", flat=True))
        Delivery.objects.filter(pk__in=ids).update(due_at=at + channel.pause)


def _is_wanted(delivery: Delivery, channel: Channel) -> bool:
    companion = delivery.companion
    is_unread = delivery.message.said_at > companion.conversation.read_until
    if not companion.user.is_active:
        return False
    return is_unread and not companion.life.is_muted and channel.wanted(companion.life)


def _attempted(deliveries: Sequence[Delivery], now: datetime) -> Sequence[Delivery]:
    """Those that are still ours, marked as attempted right before they are: who dies leaves the others to others."""
    ours = Delivery.objects.filter(pk__in=[one.pk for one in deliveries], state=State.WAITING)
    with transaction.atomic():
        ids = set(ours.filter(due_at=now + LEASE).select_for_update().values_list("pk", flat=True))
        mine = [one for one in deliveries if one.pk in ids]
        _mark(mine, State.ATTEMPTED, attempted_at=now)
    return mine


def _send_together(channel: Channel, deliveries: Sequence[Delivery], now: datetime) -> int:
    sent = channel.send(deliveries, now)
    if sent.error:
        log.warning("not_reached", channel=channel.name, code=sent.error)
    _mark(deliveries, State.FAILED if sent.error else State.SENT, ended_at=now, error=sent.error)
    return 0 if sent.error else len(deliveries)


def _mark(deliveries: Sequence[Delivery], state: State, **fields: object) -> None:
    if deliveries:
        Delivery.objects.filter(pk__in=[one.pk for one in deliveries]).update(state=state, **fields)
