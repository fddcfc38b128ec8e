"""The channel `push`: a notification on each browser that a person has let be notified."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from accounts.models import User
from companions.life.outreach import Sent
from companions.models import Delivery, Life
from integrations.push.models import Subscription
from integrations.push.sending import send
from integrations.push.subscribing import is_on


class Push:
    """One notification for each message: it waits a moment for whoever reads right now."""

    name = "push"
    gathers = False
    after = timedelta(seconds=5)
    pause = timedelta(0)

    def wanted(self, life: Life) -> bool:
        return life.by_push and is_on()

    def addresses(self, user: User) -> Sequence[str]:
        return [str(pk) for pk in Subscription.objects.owned_by(user).values_list("pk", flat=True)]

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        (delivery,) = deliveries
        mine = Subscription.objects.owned_by(delivery.companion.user)
        subscription = mine.filter(pk=delivery.destination).first()
        if subscription is None:
            return Sent("gone")
        return Sent(send(subscription, delivery.message, now))
