from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet
from companions.models import Companion
from files.models import StoredFile

MIN_SPEED, MAX_SPEED = 0.5, 2.0


class Voice(models.Model):
    """How a companion sounds; without a row it sounds as the engine does by itself.

    A reference recording is somebody's voice: it is kept only with the statement that its owner has agreed.
    """

    companion = models.OneToOneField(Companion, models.CASCADE, primary_key=True, related_name="voice")
    name = models.CharField(_("voice"), max_length=200, blank=True)
    speed = models.FloatField(
        _("speed"),
        default=1.0,
        validators=[MinValueValidator(MIN_SPEED), MaxValueValidator(MAX_SPEED)],
    )
    reads_aloud = models.BooleanField(_("answers are read aloud"), default=False)
    reference = models.OneToOneField(
        StoredFile,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("reference recording"),
    )
    reference_text = models.CharField(_("what is said in it"), max_length=1000, blank=True)
    consent = models.CharField(_("statement of consent"), max_length=500, blank=True)
    consented_at = models.DateTimeField(_("consent given"), null=True, blank=True)

    objects = OwnedQuerySet["Voice"].as_manager()

    class Meta:
        verbose_name = _("voice")
        verbose_name_plural = _("voices")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(speed__range=(MIN_SPEED, MAX_SPEED)), name="voice_speed_within_bounds"
            ),
            models.CheckConstraint(
                condition=models.Q(reference=None) | models.Q(consented_at__isnull=False),
                name="voice_reference_with_consent",
            ),
        ]

    def __str__(self) -> str:
        return self.name
