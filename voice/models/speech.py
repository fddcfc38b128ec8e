from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet
from companions.models import Companion, Message, Reply
from files.models import StoredFile


class Speech(models.Model):
    """A sentence as sound, found again by a digest of its words and of all that makes the voice.

    It lasts as long as something that was spoken holds it.
    """

    companion = models.ForeignKey(Companion, models.CASCADE, related_name="speech")
    digest = models.CharField(max_length=64)
    file = models.OneToOneField(StoredFile, models.CASCADE, related_name="speech")
    seconds = models.FloatField(_("seconds"))
    created_at = models.DateTimeField(_("made"))

    objects = OwnedQuerySet["Speech"].as_manager()

    class Meta:
        verbose_name = _("speech")
        verbose_name_plural = _("speech")
        constraints = [
            models.UniqueConstraint(fields=["companion", "digest"], name="speech_once_a_companion"),
        ]

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s"


class Spoken(models.Model):
    """The use of a speech: the sentence of that number (from 0) of a reply, or of a message that no reply became."""

    companion = models.ForeignKey(Companion, models.CASCADE, related_name="spoken")
    speech = models.ForeignKey(Speech, models.CASCADE, related_name="spoken")
    reply = models.ForeignKey(Reply, models.CASCADE, null=True, blank=True, related_name="spoken")
    message = models.ForeignKey(Message, models.CASCADE, null=True, blank=True, related_name="spoken")
    number = models.PositiveIntegerField(_("sentence"))

    objects = OwnedQuerySet["Spoken"].as_manager()

    class Meta:
        verbose_name = _("spoken sentence")
        verbose_name_plural = _("spoken sentences")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(reply=None, message__isnull=False)
                | models.Q(reply__isnull=False, message=None),
                name="spoken_of_one_thing",
            ),
            models.UniqueConstraint(fields=["reply", "number"], name="spoken_once_a_reply"),
            models.UniqueConstraint(fields=["message", "number"], name="spoken_once_a_message"),
        ]

    def __str__(self) -> str:
        return str(self.number)
