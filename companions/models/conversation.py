import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet
from companions.models.companion import Companion


class Conversation(models.Model):
    """A thread with a companion; its history is the path from the first message to the head."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.OneToOneField(Companion, models.CASCADE, related_name="conversation")
    head = models.ForeignKey("companions.Message", models.SET_NULL, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(_("made"), auto_now_add=True)

    objects = OwnedQuerySet["Conversation"].as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")

    def __str__(self) -> str:
        return f"{self.companion}"


class Session(models.Model):
    """The stretch of a conversation until it is closed; at most one is open."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="sessions")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="sessions")
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = OwnedQuerySet["Session"].as_manager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"], condition=models.Q(ended_at=None), name="session_one_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d %H:%M}"
