import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet
from companions.models import Companion, Message
from files.models import StoredFile


class Recording(models.Model):
    """What a person has said aloud, and what was heard of it. `message` is what it became, once it was sent."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="recordings")
    message = models.OneToOneField(
        Message, models.CASCADE, null=True, blank=True, related_name="recording", verbose_name=_("became")
    )
    file = models.OneToOneField(StoredFile, models.CASCADE, related_name="recording")
    heard = models.TextField(_("what was heard"), blank=True)
    language = models.CharField(_("language"), max_length=16, blank=True)
    seconds = models.FloatField(_("seconds"))
    created_at = models.DateTimeField(_("recorded"))

    objects = OwnedQuerySet["Recording"].as_manager()

    class Meta:
        verbose_name = _("recording")
        verbose_name_plural = _("recordings")
        ordering = ["-created_at"]
        indexes = [
            models.Index(  # what was never sent is swept
                fields=["created_at"], condition=models.Q(message=None), name="recording_not_sent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s"
