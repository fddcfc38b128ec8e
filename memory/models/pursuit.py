from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from memory.models.memory import Memory


class Pursuit(models.Model):
    """The progress of a goal or an idea, beside its memory: how far it is, what it is part of, how much it excites.

    `reviewed_at` is when it was last looked at, `moved_at` when that last changed its status or progress.
    """

    class Status(models.TextChoices):
        NEW = "new", _("new")
        UNDER_WAY = "under_way", _("under way")
        DONE = "done", _("done")
        GIVEN_UP = "given_up", _("given up")

    class Origin(models.TextChoices):
        TALK = "talk", _("conversation")
        REFLECTION = "reflection", _("reflection")
        NIGHT = "night", _("night")
        PERSON = "person", _("user")

    ENDED = (Status.DONE, Status.GIVEN_UP)

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="+")
    memory = models.OneToOneField(Memory, models.CASCADE, related_name="pursuit")
    status = models.CharField(_("status"), max_length=16, choices=Status, default=Status.NEW)
    progress = models.PositiveSmallIntegerField(
        _("progress (%)"), default=0, validators=[MaxValueValidator(100)]
    )
    parent = models.ForeignKey(Memory, models.SET_NULL, null=True, blank=True, related_name="parts")
    excitement = models.PositiveSmallIntegerField(
        _("excitement"), default=5, validators=[MinValueValidator(1), MaxValueValidator(10)]
    )
    origin = models.CharField(_("origin"), max_length=16, choices=Origin, default=Origin.TALK)
    reviewed_at = models.DateTimeField(_("reviewed"), null=True, blank=True)
    moved_at = models.DateTimeField(_("last progress"), null=True, blank=True)

    objects = OwnedQuerySet["Pursuit"].as_manager()

    class Meta:
        verbose_name = _("pursuit")
        verbose_name_plural = _("pursuits")
        constraints = [
            models.CheckConstraint(condition=models.Q(progress__lte=100), name="pursuit_progress_to_100"),
            models.CheckConstraint(
                condition=models.Q(excitement__range=(1, 10)), name="pursuit_excitement_1_to_10"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} {self.memory_id}"
