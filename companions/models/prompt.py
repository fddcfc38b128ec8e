from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.reply import Reply


class Prompt(models.Model):
    """A request to the model in one round of a reply, exactly as sent, and what the model wrote.

    Kept for 30 days, or until something in it is deleted. `shown` are the ids of what it shows.
    """

    companion = models.ForeignKey(Companion, models.CASCADE, related_name="prompts")
    reply = models.ForeignKey(Reply, models.CASCADE, related_name="prompts")
    round = models.PositiveSmallIntegerField(_("round"), default=1)
    messages = models.JSONField(_("messages"))
    tools = models.JSONField(_("tools"), default=list)
    wrote = models.TextField(_("what the model wrote"), blank=True)  # if it differs from what was passed on
    shown = ArrayField(models.UUIDField(), default=list)
    created_at = models.DateTimeField(_("sent"))

    objects = OwnedQuerySet["Prompt"].as_manager()

    class Meta:
        verbose_name = _("prompt")
        verbose_name_plural = _("prompts")
        ordering = ["reply", "round"]
        constraints = [models.UniqueConstraint(fields=["reply", "round"], name="prompt_round_unique")]
        indexes = [
            GinIndex(fields=["shown"], name="prompt_shown"),  # deletion: the prompts that show a thing
            models.Index(fields=["created_at"], name="prompt_age"),  # deletion of old prompts
        ]

    def __str__(self) -> str:
        return f"{self.reply_id} / {self.round}"
