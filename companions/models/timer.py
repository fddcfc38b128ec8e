import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from database.journal import AwakeManager

NOTE_CHARACTERS = 1000


class TimerQuerySet(OwnedQuerySet["Timer"]):
    def active(self) -> "TimerQuerySet":
        return self.filter(state=Timer.State.ACTIVE)

    def not_ended(self) -> "TimerQuerySet":
        """Return active timers, and dead letters, which may be started again."""
        return self.filter(state__in=[Timer.State.ACTIVE, Timer.State.DEAD_LETTER])


class Timer(models.Model):
    """A timer of a companion, due once or repeatedly: its schedule, its next due time, and its purpose (`note`).

    `schedule` is one of `30s`, `5min`, `2h`, `1d`, `once:2026-04-10 09:00`, `cron:0 8 * * *`; only `cron` repeats. A
    tick takes it from `look_at` on: its due time, or the time when the claim of another process runs out. `is_asked_for`
    if the person set it or asked for it; what its waking says is then not unprompted. `name` is set for predefined timers
    only.
    """

    class By(models.TextChoices):
        COMPANION = "companion", _("companion")
        USER = "user", _("user")
        OPERATOR = "operator", _("operator")
        KITH = "kith", "Kith"

    class State(models.TextChoices):
        ACTIVE = "active", _("active")
        ENDED = "ended", _("ended")
        CANCELLED = "cancelled", _("cancelled")
        DEAD_LETTER = "set_aside", _("set aside")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="timers")
    schedule = models.CharField(_("schedule"), max_length=120)
    name = models.CharField(_("predefined as"), max_length=40, blank=True)
    note = models.TextField(_("purpose"), blank=True, max_length=NOTE_CHARACTERS)
    by = models.CharField(_("set by"), max_length=16, choices=By)
    is_asked_for = models.BooleanField(pgettext_lazy("by the person", "requested"), default=False)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.ACTIVE)
    due_at = models.DateTimeField(_("next due"), null=True, blank=True)
    look_at = models.DateTimeField(_("next check"), null=True, blank=True)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    error = models.CharField(_("error"), max_length=40, blank=True)
    message = models.ForeignKey(
        "companions.Message",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="timers",
        verbose_name=_("set in answer to"),
    )
    waking = models.ForeignKey(
        "companions.Waking",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="timers_set",
        verbose_name=_("set in waking"),
    )
    created_at = models.DateTimeField(_("created"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    is_asleep = models.BooleanField(_("on another branch"), default=False, editable=False)

    objects = AwakeManager.from_queryset(TimerQuerySet)()
    everywhere = TimerQuerySet.as_manager()

    class Meta:
        verbose_name = _("timer")
        verbose_name_plural = _("timers")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["companion", "name"], condition=~models.Q(name=""), name="timer_predefined_once"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="active") | models.Q(due_at__isnull=False, look_at__isnull=False),
                name="timer_active_is_due",
            ),
        ]
        indexes = [
            # The tick.
            models.Index(fields=["look_at"], condition=models.Q(state="active"), name="timer_look"),
            models.Index(fields=["companion", "due_at"], name="timer_companion_due"),  # the planned timers
            # The dead letters, which wait for an operator.
            models.Index(
                fields=["created_at"], condition=models.Q(state="set_aside"), name="timer_set_aside"
            ),
        ]

    def __str__(self) -> str:
        return self.schedule
