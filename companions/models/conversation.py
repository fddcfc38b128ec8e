import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from database.journal import AwakeManager

DIGEST_MESSAGES = 24  # twelve turns are learnt from at once
REFLECTION_MESSAGES = 24  # of both sides, twelve turns, after which the inner state is written anew


class Conversation(models.Model):
    """A thread with a companion; its history is the path from the first message to the head.

    What the companion said until `read_until` its person has seen. It began with that one of its greetings, 0 for the
    first and None for none.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.OneToOneField(Companion, models.CASCADE, related_name="conversation")
    head = models.ForeignKey("companions.Message", models.SET_NULL, null=True, blank=True, related_name="+")
    branch = models.ForeignKey("companions.Branch", models.SET_NULL, null=True, blank=True, related_name="+")
    read_until = models.DateTimeField(_("read until"), default=timezone.now)
    greeting = models.PositiveSmallIntegerField(_("greeting"), null=True, blank=True)
    created_at = models.DateTimeField(_("made"), auto_now_add=True)

    objects = OwnedQuerySet["Conversation"].as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")

    def __str__(self) -> str:
        return f"{self.companion}"


class SessionQuerySet(OwnedQuerySet["Session"]):
    pass


class Session(models.Model):
    """The stretch of a conversation until it is closed; at most one is open.

    `summary` tells what was said up to `summarised_until`, both sides' words. The prompt leaves out the oldest `unsent`
    messages, by the pressure that the last turn's prompt put on the context (a share of it). `scratch` ends with it, and
    so do the groups of tools that were asked for, in the order in which they came.
    While a batch of it is learnt from, or after that has failed, nobody else tries before `digest_at`. In one of a
    `waking` nothing was said: it stands behind a page that the companion wrote into its diary by itself. One that is
    asleep began on a branch that is not chosen.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="sessions")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="sessions")
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    title = models.CharField(_("title"), max_length=200, blank=True)
    summary = models.TextField(_("summary"), blank=True)
    summarised_until = models.DateTimeField(_("summarised until"), null=True, blank=True)
    unsent = models.PositiveIntegerField(_("messages not sent"), default=0)
    pressure = models.FloatField(_("pressure on the context"), default=0.0)
    digest_at = models.DateTimeField(_("next digest"), null=True, blank=True)
    digest_attempts = models.PositiveSmallIntegerField(_("failed digests"), default=0)
    scratch = models.TextField(_("scratch"), blank=True, max_length=4000)
    tool_groups = ArrayField(
        models.CharField(max_length=20), verbose_name=_("further tools asked for"), default=list, blank=True
    )
    waking = models.ForeignKey(
        "companions.Waking",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="pages",
        verbose_name=_("a diary page of the waking"),
    )
    is_asleep = models.BooleanField(_("on another branch"), default=False, editable=False)

    objects = AwakeManager.from_queryset(SessionQuerySet)()
    everywhere = SessionQuerySet.as_manager()

    class Meta:
        verbose_name = _("session")
        verbose_name_plural = _("sessions")
        ordering = ["-started_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"],
                condition=models.Q(ended_at=None, is_asleep=False),
                name="session_one_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{localtime(self.started_at):%Y-%m-%d %H:%M}"
