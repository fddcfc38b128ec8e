from datetime import time

from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion


class Life(models.Model):
    """How a companion lives between talks: whether it wakes, and whether, when, how often and where it may write first.

    Hours are in the user's zone; a span whose two ends are equal is empty. While a reflection is made, or after one has
    failed, no other worker tries before `reflect_at`. The next search for drives is due at `drives_at`.
    """

    MOST_A_DAY = 10

    companion = models.OneToOneField(Companion, models.CASCADE, primary_key=True, related_name="life")
    is_awake = models.BooleanField(_("has a life between conversations"), default=True)
    reaches_out = models.BooleanField(_("may write first"), default=False)
    is_muted = models.BooleanField(_("muted"), default=False)
    most_a_day = models.PositiveSmallIntegerField(
        _("maximum messages per day"), default=2, validators=[MaxValueValidator(MOST_A_DAY)]
    )
    quiet_from = models.TimeField(_("quiet from"), default=time(22))
    quiet_until = models.TimeField(_("quiet until"), default=time(8))
    sleeps_from = models.TimeField(_("sleeps from"), default=time(23, 30))
    sleeps_until = models.TimeField(_("sleeps until"), default=time(7))
    by_email = models.BooleanField(_("by e-mail"), default=False)
    by_push = models.BooleanField(_("by notification"), default=True)
    drives_at = models.DateTimeField(_("next check for drives"), null=True, blank=True)
    reflect_at = models.DateTimeField(_("next reflection"), null=True, blank=True)
    reflect_attempts = models.PositiveSmallIntegerField(_("failed reflections"), default=0)

    objects = OwnedQuerySet["Life"].as_manager()

    class Meta:
        verbose_name = _("life")
        verbose_name_plural = _("lives")
        indexes = [
            # The sweep.
            models.Index(fields=["drives_at"], condition=models.Q(is_awake=True), name="life_drives_due"),
        ]

    def __str__(self) -> str:
        return f"{self.companion}"
