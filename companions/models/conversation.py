import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from database.journal import AwakeManager

DIGEST_MESSAGES = 24  # of both sides, i.e. twelve turns, from which one batch learns
REFLECTION_MESSAGES = 24  # of both sides, i.e. twelve turns, after which the inner state is revised


class Conversation(models.Model):
    """A thread with a companion; its history is the path from the first message to `head`.

    The person has seen what the companion said up to `read_until`. `greeting` is the index of the greeting that the
    conversation began with, or None if it began without one.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.OneToOneField(Companion, models.CASCADE, related_name="conversation")
    head = models.ForeignKey("companions.Message", models.SET_NULL, null=True, blank=True, related_name="+")
    branch = models.ForeignKey("companions.Branch", models.SET_NULL, null=True, blank=True, related_name="+")
    read_until = models.DateTimeField(_("read until"), default=timezone.now)
    greeting = models.PositiveSmallIntegerField(_("greeting"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = OwnedQuerySet["Conversation"].as_manager()

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")

    def __str__(self) -> str:
        return f"{self.companion}"


class SessionQuerySet(OwnedQuerySet["Session"]):
    pass


class Session(models.Model):
    """The stretch of a conversation until it is closed; at most one session is open.

    `summary` covers what both sides said up to `summarised_until`. The prompt leaves out the oldest `unsent` messages;
    their number follows from `pressure`, the share of the context that the last turn's prompt took. `scratch` and
    `tool_groups` (the groups of tools that were asked for, in order) end with the session.
    While a batch of messages is learnt from, or after that failed, no other worker tries before `digest_at`. A session
    with a `waking` has no messages: it belongs to a diary page that the companion wrote by itself. One with `is_asleep`
    began on a branch that is not chosen.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="sessions")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="sessions")
    started_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)
    title = models.CharField(_("title"), max_length=200, blank=True)
    summary = models.TextField(_("summary"), blank=True)
    summarised_until = models.DateTimeField(_("summarised until"), null=True, blank=True)
    unsent = models.PositiveIntegerField(_("messages left out of prompts"), default=0)
    pressure = models.FloatField(_("pressure on the context"), default=0.0)
    digest_at = models.DateTimeField(_("next digest"), null=True, blank=True)
    digest_attempts = models.PositiveSmallIntegerField(_("failed digests"), default=0)
    scratch = models.TextField(_("scratch"), blank=True, max_length=4000)
    tool_groups = ArrayField(
        models.CharField(max_length=20), verbose_name=_("further tools requested"), default=list, blank=True
    )
    waking = models.ForeignKey(
        "companions.Waking",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="pages",
        verbose_name=_("waking that wrote this page"),
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
