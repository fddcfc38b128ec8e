from django.db import models
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _

from accounts.models.user import User, UserOwnedQuerySet


class SoundCallQuerySet(UserOwnedQuerySet["SoundCall"]):
    def without_failed(self) -> "SoundCallQuerySet":
        return self.filter(outcome__in=(SoundCall.Outcome.DONE, SoundCall.Outcome.STOPPED))

    def used(self) -> dict[str, float]:
        """Return the sums of characters spoken, seconds spoken and seconds heard, without failed calls (one query)."""
        spoke = models.Q(capability=SoundCall.Capability.SPEECH)
        return self.without_failed().aggregate(
            characters=Coalesce(models.Sum("characters", filter=spoke), 0),
            seconds_spoken=Coalesce(models.Sum("seconds", filter=spoke), 0.0),
            seconds_heard=Coalesce(models.Sum("seconds", filter=~spoke), 0.0),
        )


class SoundCall(models.Model):
    """One call of a speech or transcription provider: usage in characters and in seconds of sound."""

    class Capability(models.TextChoices):
        SPEECH = "speech", _("speech")
        TRANSCRIPTION = "transcription", _("transcription")

    class Outcome(models.TextChoices):
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        UNAVAILABLE = "unavailable", _("not reached")
        REFUSED = "refused", _("refused")

    user = models.ForeignKey(User, models.CASCADE, related_name="sound_calls", verbose_name=_("user"))
    companion = models.ForeignKey(
        "companions.Companion", models.SET_NULL, null=True, related_name="sound_calls"
    )
    capability = models.CharField(_("capability"), max_length=16, choices=Capability)
    provider = models.CharField(_("provider"), max_length=200)
    model = models.CharField(_("model"), max_length=200, blank=True)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome)
    characters = models.PositiveIntegerField(_("characters"), default=0)
    seconds = models.FloatField(_("seconds of audio"), default=0.0)
    milliseconds = models.PositiveIntegerField(_("duration (ms)"))
    said = models.TextField(_("the provider's message"), blank=True)
    started_at = models.DateTimeField(_("started"))

    objects = SoundCallQuerySet.as_manager()

    class Meta:
        verbose_name = _("sound call")
        verbose_name_plural = _("sound calls")
        ordering = ["-started_at"]
        indexes = [
            # The gate sums up a day's use.
            models.Index(fields=["user", "started_at"], name="sound_call_user_day"),
            # The admin's page of a provider shows its last day by hours.
            models.Index(fields=["provider", "model", "started_at"], name="sound_call_provider_day"),
        ]

    def __str__(self) -> str:
        return f"{self.capability} {self.model} {self.started_at:%Y-%m-%d %H:%M}"
