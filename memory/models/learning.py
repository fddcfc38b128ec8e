from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from memory.models.memory import Memory


class Learning(models.Model):
    """One batch of messages that was learnt from: each verdict that the model gave, and what became of it.

    `verdicts` are [{"verdict", "kind", "memory": id or null, "of": id or null, "outcome", "reason"}]; the words
    themselves are only in the memories.
    """

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="learnings")
    session = models.ForeignKey(
        "companions.Session", models.SET_NULL, null=True, blank=True, related_name="learnings"
    )
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")
    messages = models.PositiveIntegerField(_("messages"))
    verdicts = models.JSONField(_("verdicts"), default=list)
    at = models.DateTimeField(_("when"))

    objects = OwnedQuerySet["Learning"].as_manager()

    class Meta:
        verbose_name = _("learning")
        verbose_name_plural = _("learnings")
        ordering = ["-at"]
        # The admin's list.
        indexes = [models.Index(fields=["companion", "-at"], name="learning_companion_time")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"


class Retraction(models.Model):
    """A record that a companion closed a memory because its person asked it to, by a call of `forget` or `revise`.

    While the record exists, the person can undo that. `slot` is the name of the slot that had held the text, if any.
    """

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="+")
    memory = models.OneToOneField(Memory, models.CASCADE, related_name="retraction")
    reply = models.ForeignKey(
        "companions.Reply", models.SET_NULL, null=True, blank=True, related_name="retractions"
    )
    slot = models.CharField(_("slot"), max_length=60, blank=True)
    made_at = models.DateTimeField(_("when"))

    objects = OwnedQuerySet["Retraction"].as_manager()

    class Meta:
        verbose_name = _("retraction")
        verbose_name_plural = _("retractions")
        ordering = ["made_at", "pk"]

    def __str__(self) -> str:
        return f"{self.made_at:%Y-%m-%d %H:%M} {self.memory_id}"
