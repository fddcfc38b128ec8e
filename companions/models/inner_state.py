import uuid

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from memory.emotion import Emotion
from memory.models.memory import SHARE

INNER_STATE_CHARACTERS = 4000
UP_AND_DOWN = [MinValueValidator(-1.0), MaxValueValidator(1.0)]


class InnerState(models.Model):
    """A revision of how a companion feels and sees the present, in its own words; the highest `number` is in force.

    Valence goes from -1 (bad) to 1 (good), arousal from 0 (calm) to 1 (stirred), both as they were at `made_at`: moods
    fade with time. `seen` are the ids of the messages that it was drawn from, besides the revision before it. A
    reflection took all that was said up to `until_at` into account. A revision by `deletion` keeps the feeling and the
    sentences that the deletion left, if any, until a reflection writes new ones.
    """

    class By(models.TextChoices):
        SEED = "seed", _("first state")
        REFLECTION = "reflection", _("reflection")
        CLOSING = "closing", _("end of a session")
        WAKING = "waking", _("waking")
        USER = "user", _("user")
        OPERATOR = "operator", _("operator")
        IMPORT = "import", _("import")
        DELETION = "deletion", _("deletion")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="inner_states")
    number = models.PositiveIntegerField(_("number"))
    text = models.TextField(_("in its own words"), max_length=INNER_STATE_CHARACTERS, blank=True)
    valence = models.FloatField(_("valence"), default=0.0, validators=UP_AND_DOWN)
    arousal = models.FloatField(_("arousal"), default=0.0, validators=SHARE)
    emotion = models.CharField(_("emotion"), max_length=16, choices=Emotion, default=Emotion.NEUTRAL)
    intensity = models.FloatField(_("intensity"), default=0.0, validators=SHARE)
    by = models.CharField(_("made by"), max_length=16, choices=By)
    seen = ArrayField(models.UUIDField(), verbose_name=_("derived from"), default=list, blank=True)
    is_rehearsed = models.BooleanField(_("written by the rehearsal model"), default=False)
    until_at = models.DateTimeField(_("covers messages until"), null=True, blank=True)
    waking = models.ForeignKey(
        "companions.Waking", models.SET_NULL, null=True, blank=True, related_name="inner_states"
    )
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")
    made_at = models.DateTimeField(_("created"))

    objects = OwnedQuerySet["InnerState"].as_manager()

    class Meta:
        verbose_name = _("inner state")
        verbose_name_plural = _("inner states")
        ordering = ["-made_at", "-number"]
        indexes = [
            models.Index(  # companions whose inner state must be put into words again
                fields=["companion"], condition=models.Q(by="deletion"), name="inner_state_without_words"
            ),
        ]
        constraints = [
            models.UniqueConstraint(fields=["companion", "number"], name="inner_state_number_unique"),
            models.CheckConstraint(
                condition=models.Q(valence__range=(-1, 1), arousal__range=(0, 1), intensity__range=(0, 1)),
                name="inner_state_within_bounds",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number}"
