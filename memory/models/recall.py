import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet
from memory.models.memory import Memory


class Recall(models.Model):
    """A search of memory: from which cue, by whom, when, and how long it took."""

    class By(models.TextChoices):
        TURN = "turn", _("turn")
        TOOL = "tool", _("tool")
        API = "api", _("API")
        OPERATOR = "operator", _("operator")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="recalls")
    reply = models.ForeignKey(
        "companions.Reply", models.CASCADE, null=True, blank=True, related_name="recalls"
    )
    by = models.CharField(_("by"), max_length=16, choices=By)
    cue = models.TextField(_("cue"), blank=True)
    at = models.DateTimeField(_("when"))
    milliseconds = models.PositiveIntegerField(_("took (ms)"))
    policy = models.CharField(_("scoring policy"), max_length=32, blank=True)

    objects = OwnedQuerySet["Recall"].as_manager()

    class Meta:
        verbose_name = _("recall")
        verbose_name_plural = _("recalls")
        ordering = ["-at"]
        indexes = [
            models.Index(fields=["companion", "-at"], name="recall_companion_time")
        ]  # the admin's list

    def __str__(self) -> str:
        return f"{self.by} {self.at:%Y-%m-%d %H:%M}"


class RecalledQuerySet(OwnedQuerySet["Recalled"]):
    owner = "recall__companion__user"

    def of(self, companion_id: uuid.UUID) -> "RecalledQuerySet":
        return self.filter(recall__companion_id=companion_id)


class Recalled(models.Model):
    """One memory that a recall found: its rank from 1, its score, and the reasons in numbers."""

    recall = models.ForeignKey(Recall, models.CASCADE, related_name="found")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="recalled")
    rank = models.PositiveSmallIntegerField(_("rank"))
    score = models.FloatField(_("score"))
    reasons = models.JSONField(_("reasons"))
    is_used = models.BooleanField(
        _("used"), default=False
    )  # shown in a reply that was given: this strengthens

    objects = RecalledQuerySet.as_manager()

    class Meta:
        verbose_name = _("recalled memory")
        verbose_name_plural = _("recalled memories")
        ordering = ["rank"]
        constraints = [models.UniqueConstraint(fields=["recall", "memory"], name="recalled_once")]

    def __str__(self) -> str:
        return f"{self.rank}. {self.memory_id}"
