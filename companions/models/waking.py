import uuid
from typing import TYPE_CHECKING

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.timer import NOTE_CHARACTERS, Timer
from text.strings import shorten

if TYPE_CHECKING:
    from memory.models import Memory

MAX_THOUGHT_CHARACTERS = 4000


class WakingQuerySet(OwnedQuerySet["Waking"]):
    def waiting(self) -> "WakingQuerySet":
        return self.filter(state=Waking.State.WAITING)


class Waking(models.Model):
    """A companion acting on a timer or a drive, in speech or in chosen silence; or the reason why it did not.

    A late waking also stands for the `missed` due times since `missed_since`. `steps` are its tool calls with their
    results, each saved with the tool's effects, so that a worker who takes the waking over goes on after the last one.
    No other worker does so before `look_at`. `prompt` is what the model was sent; `shown` are the ids of the messages
    and memories in it.
    """

    class Origin(models.TextChoices):
        TIMER = "timer", _("timer")
        FORCED = "forced", _("fired by hand")
        DRIVE = "drive", _("drive")

    class Drive(models.TextChoices):
        PROMISE = "promise", _("a promise")
        EVENT = "event", _("something that is near")
        BIRTHDAY = "birthday", _("a birthday")
        LONG_SILENCE = "long_silence", _("a long silence")
        IDEA = "idea", _("an idea that it likes")
        GOAL = "goal", _("a goal that stands still")

    WITHOUT_SUBJECT = ("", Drive.LONG_SILENCE)  # the drives that are about no memory

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DONE = "done", _("done")
        SKIPPED = "skipped", _("skipped")
        FAILED = "failed", _("failed")

    class Outcome(models.TextChoices):
        SPOKE = "spoke", _("spoke")
        SILENT = "silent", _("stayed silent")
        HELD = "held", _("held back")
        REMINDED = "reminded", _("Kith reminded")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="wakings")
    timer = models.ForeignKey(Timer, models.SET_NULL, null=True, blank=True, related_name="wakings")
    origin = models.CharField(_("origin"), max_length=16, choices=Origin)
    due_at = models.DateTimeField(_("due"))
    missed = models.PositiveIntegerField(_("due times missed before"), default=0)
    missed_since = models.DateTimeField(_("missed since"), null=True, blank=True)
    drive = models.CharField(_("drive"), max_length=24, blank=True)
    drive_key = models.CharField(_("drive's occasion"), max_length=120, blank=True)
    about = models.ForeignKey(
        "memory.Memory", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("about")
    )
    note = models.TextField(_("purpose"), blank=True, max_length=NOTE_CHARACTERS)
    is_asked_for = models.BooleanField(pgettext_lazy("by the person", "requested"), default=False)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.WAITING)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome, blank=True)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    thought = models.TextField(_("thought"), blank=True)
    text = models.TextField(_("wanted to say"), blank=True)
    # Each as {"at", "emotion", "intensity"}; `at` is the offset in the text from which it holds.
    emotions = models.JSONField(_("emotions"), default=list, blank=True)
    steps = models.JSONField(_("steps"), default=list, blank=True)
    prompt = models.JSONField(_("prompt as sent"), default=list, blank=True)
    shown = ArrayField(models.UUIDField(), verbose_name=_("shown in the prompt"), default=list, blank=True)
    is_rehearsed = models.BooleanField(_("written by the rehearsal model"), default=False)
    model = models.CharField(_("written by model"), max_length=200, blank=True)
    is_stand_in = models.BooleanField(_("by a stand-in"), default=False)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    look_at = models.DateTimeField(_("next check"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"))
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = WakingQuerySet.as_manager()

    class Meta:
        verbose_name = _("waking")
        verbose_name_plural = _("wakings")
        ordering = ["-due_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["timer", "due_at"], name="waking_once_a_due_time"),
            models.UniqueConstraint(
                fields=["companion", "drive_key"],
                condition=~models.Q(drive_key=""),
                name="waking_once_an_occasion",
            ),
        ]
        indexes = [
            # The life log.
            models.Index(fields=["companion", "-due_at", "-id"], name="waking_companion_time"),
            # The tick.
            models.Index(fields=["look_at"], condition=models.Q(state="waiting"), name="waking_look"),
            # The journal's trigger: the waking under way in which a change is made.
            models.Index(
                fields=["companion", "started_at"],
                condition=models.Q(state="waiting", started_at__isnull=False),
                name="waking_under_way",
            ),
            # The failed wakings, which wait for an operator.
            models.Index(fields=["due_at"], condition=models.Q(state="failed"), name="waking_failed"),
        ]

    def __str__(self) -> str:
        return f"{self.origin} {self.state} {localtime(self.due_at):%Y-%m-%d %H:%M}"

    def add_thoughts(self, *thoughts: str) -> None:
        """Add these to the thought, which has MAX_THOUGHT_CHARACTERS at most; the caller saves it."""
        added = (thought.strip() for thought in thoughts)
        self.thought = shorten("\n\n".join(filter(None, (self.thought, *added))), MAX_THOUGHT_CHARACTERS)

    @property
    def drive_label(self) -> str:
        """The drive in words for the person."""
        return describe_drive(self.drive)

    @property
    def subject(self) -> "Memory | None":
        """The memory that the waking is about, or None if it no longer holds or must not be shown to models."""
        about = self.about
        if about is None or about.is_private or about.is_stale or about.closed_at:
            return None
        return None if about.message and about.message.is_hidden else about

    @property
    def has_lost_subject(self) -> bool:
        """Whether the waking's drive is about a memory that is now deleted, closed, or kept from models."""
        return self.drive not in self.WITHOUT_SUBJECT and self.subject is None


def describe_drive(drive: str) -> str:
    """Return a drive in words, or as it is if it is unknown."""
    return str(Waking.Drive(drive).label) if drive in Waking.Drive.values else drive
