import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet


class Forgotten(models.Model):
    """What a person confirmed to be forgotten, so that it is not learnt again from what had been said until then.

    Each of the `statements` is a list of digests, keyed with the `salt`, of the words that one forgotten statement was
    about: a text can be compared with them, but the words cannot be read.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="forgotten")
    salt = models.BinaryField(editable=False)
    statements = models.JSONField(_("digests of words"), default=list)
    at = models.DateTimeField(_("when"))

    objects = OwnedQuerySet["Forgotten"].as_manager()

    class Meta:
        verbose_name = _("forgotten statement")
        verbose_name_plural = _("forgotten statements")
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M}"
