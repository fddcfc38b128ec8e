import uuid
from collections.abc import Iterable

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.message import Message


class DeliveryQuerySet(OwnedQuerySet["Delivery"]):
    def gone_out(self, messages: Iterable[Message]) -> "DeliveryQuerySet":
        """Return the deliveries of `messages` that may have reached the person and so cannot be withdrawn."""
        return self.filter(message__in=messages, state__in=[Delivery.State.ATTEMPTED, Delivery.State.SENT])


class Delivery(models.Model):
    """The delivery of one message to one of the person's addresses on one channel, made at most once.

    The state becomes `attempted` before the attempt: if the process dies in between, nobody tries again.
    `destination` is the channel's own id of the address.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        ATTEMPTED = "attempted", _("attempted")
        SENT = "sent", _("sent")
        FAILED = "failed", _("failed")
        DROPPED = "dropped", _("no longer needed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="deliveries")
    message = models.ForeignKey(Message, models.CASCADE, related_name="deliveries")
    channel = models.CharField(_("channel"), max_length=16)
    destination = models.CharField(_("address"), max_length=64, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.WAITING)
    due_at = models.DateTimeField(_("due"))
    attempted_at = models.DateTimeField(_("attempted"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    error = models.CharField(_("error"), max_length=40, blank=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        verbose_name = _("delivery")
        verbose_name_plural = _("deliveries")
        ordering = ["-due_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["message", "channel", "destination"], name="delivery_once_an_address"
            ),
        ]
        indexes = [
            # The sweep.
            models.Index(fields=["due_at"], condition=models.Q(state="waiting"), name="delivery_due"),
        ]

    def __str__(self) -> str:
        return f"{self.channel} {self.state}"
