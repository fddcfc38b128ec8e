from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet
from memory.models.memory import Memory


class Retraction(models.Model):
    """That a companion closed a memory as its person asked it to: by a call of `forget` or `revise` in that reply.

    While it stands, the person can undo it. `slot` is the name of the slot that had held what the memory says.
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
