from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from files.models import StoredFile
from memory.emotion import Emotion


class Portrait(models.Model):
    """A companion's drawn face: `chosen` features, and a `seed` that decides the others. Without a row, both
    follow from the companion's id.
    """

    companion = models.OneToOneField(Companion, models.CASCADE, primary_key=True, related_name="portrait")
    seed = models.PositiveBigIntegerField(_("seed"))
    chosen = models.JSONField(_("chosen"), default=dict, blank=True)

    objects = OwnedQuerySet["Portrait"].as_manager()

    class Meta:
        verbose_name = _("portrait")
        verbose_name_plural = _("portraits")

    def __str__(self) -> str:
        return str(self.seed)


class Picture(models.Model):
    """An uploaded picture that replaces the drawn face: in one `emotion` or, if that is "", in all without one."""

    companion = models.ForeignKey(Companion, models.CASCADE, related_name="pictures")
    emotion = models.CharField(_("emotion"), max_length=16, choices=Emotion, blank=True)
    file = models.OneToOneField(StoredFile, models.CASCADE, related_name="picture")

    objects = OwnedQuerySet["Picture"].as_manager()

    class Meta:
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")
        constraints = [
            models.UniqueConstraint(fields=["companion", "emotion"], name="picture_once_an_emotion"),
        ]

    def __str__(self) -> str:
        return self.emotion or "always"
