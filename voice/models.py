import uuid

from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models import Companion, Message, Reply
from files.models import StoredFile

MIN_SPEED, MAX_SPEED = 0.5, 2.0


class Recording(models.Model):
    """A recording of a person's speech, with its transcription in `heard`. Once sent, it belongs to a `message`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="recordings")
    message = models.OneToOneField(
        Message, models.CASCADE, null=True, blank=True, related_name="recording", verbose_name=_("message")
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
            models.Index(  # for the sweep of unsent recordings
                fields=["created_at"], condition=models.Q(message=None), name="recording_not_sent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.seconds:.1f} s"


class Speech(models.Model):
    """A sentence as sound, with a digest of its words and of all that makes the voice as its key.

    It is deleted once no Spoken row uses it.
    """

    companion = models.ForeignKey(Companion, models.CASCADE, related_name="speech")
    digest = models.CharField(max_length=64)
    file = models.OneToOneField(StoredFile, models.CASCADE, related_name="speech")
    seconds = models.FloatField(_("seconds"))
    created_at = models.DateTimeField(_("created"))

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
    """The use of a speech as sentence `number` (from 0) of a reply, or of a message that was not made by a reply."""

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


class Voice(models.Model):
    """A companion's voice; without a row, the engine's defaults apply.

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
