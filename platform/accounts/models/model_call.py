from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import User, UserOwnedQuerySet


class ModelCallQuerySet(UserOwnedQuerySet["ModelCall"]):
    def forget_words(self) -> None:
        """Clear what was sent and received, and what the provider said; what was used stays counted."""
        self.update(sent=None, received=None, said="")


class ModelCall(models.Model):
    """One request to a model: its user, purpose, tokens and outcome. Usage and budgets are computed from these rows."""

    class Purpose(models.TextChoices):
        ANSWER = "answer", _("answer")
        EMBEDDING = "embedding", _("embedding")
        LEARNING = "learning", _("summary and learning")
        CLOSING = "closing", _("end of a session")
        GISTS = "gists", _("gists of pages")
        CONSOLIDATION = "consolidation", _("consolidation")
        REFLECTION = "reflection", _("reflection")
        WAKING = "waking", _("waking")
        COMPARISON = "comparison", _("comparison of models")
        TRIAL = "trial", _("try-out of a character")
        CHECK = "check", _("check before sending")

    class Outcome(models.TextChoices):
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        INTERRUPTED = "interrupted", _("interrupted")
        UNAVAILABLE = "unavailable", _("not reached")
        REFUSED = "refused", _("refused")

    user = models.ForeignKey(User, models.CASCADE, related_name="model_calls", verbose_name=_("user"))
    companion = models.ForeignKey(
        "companions.Companion", models.SET_NULL, null=True, related_name="model_calls"
    )
    reply = models.ForeignKey("companions.Reply", models.SET_NULL, null=True, related_name="model_calls")
    purpose = models.CharField(_("purpose"), max_length=16, choices=Purpose)
    provider = models.CharField(_("provider"), max_length=200)
    model = models.CharField(_("model"), max_length=200)
    outcome = models.CharField(_("outcome"), max_length=16, choices=Outcome, default=Outcome.RUNNING)
    prompt_tokens = models.PositiveIntegerField(_("tokens sent"), default=0)
    completion_tokens = models.PositiveIntegerField(_("tokens received"), default=0)
    cached_tokens = models.PositiveIntegerField(_("tokens from the cache"), default=0)
    is_estimated = models.BooleanField(_("tokens estimated"), default=False)
    first_piece_milliseconds = models.PositiveIntegerField(_("first piece after (ms)"), null=True)
    milliseconds = models.PositiveIntegerField(_("duration (ms)"), null=True)
    said = models.TextField(_("the provider's message"), blank=True)
    # Of background work: the messages as sent, and what came back (`Completion.received`), kept for 30 days, or until
    # anything of the companion is deleted. Those of a reply are in its prompts.
    sent = models.JSONField(_("sent"), null=True, blank=True)
    received = models.JSONField(_("received"), null=True, blank=True)
    started_at = models.DateTimeField(_("started"))

    objects = ModelCallQuerySet.as_manager()

    class Meta:
        verbose_name = _("model call")
        verbose_name_plural = _("model calls")
        ordering = ["-started_at"]
        indexes = [
            # The gate sums up a day's tokens.
            models.Index(fields=["user", "started_at"], name="model_call_user_day"),
            # The admin's page of a provider shows its last day by hours.
            models.Index(fields=["provider", "model", "started_at"], name="model_call_provider_day"),
            # Deletion of old words.
            models.Index(
                fields=["started_at"], name="model_call_words_age", condition=models.Q(sent__isnull=False)
            ),
            # Deletion of a companion's words.
            models.Index(
                fields=["companion"], name="model_call_words", condition=models.Q(sent__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.model} {self.started_at:%Y-%m-%d %H:%M}"
