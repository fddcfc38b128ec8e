from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet


class ContinuousUseQuerySet(OwnedQuerySet["ContinuousUse"]):
    owner = "user"


class ContinuousUse(models.Model):
    """How long one person has been talking without a pause, over all companions and channels: since `begun_at`.

    They were last told that a break is due at `told_at`, and that this is an AI on `ai_told_on`, a day of their zone.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="continuous_use"
    )
    begun_at = models.DateTimeField(_("since"))
    last_at = models.DateTimeField(_("last said"))
    told_at = models.DateTimeField(_("last told of a break"), null=True, blank=True)
    ai_told_on = models.DateField(_("last told that this is an AI"), null=True, blank=True)

    objects = ContinuousUseQuerySet.as_manager()

    class Meta:
        db_table = "safety_together"
        verbose_name = _("time together")
        verbose_name_plural = _("times together")

    def __str__(self) -> str:
        return f"{self.user_id} {self.begun_at:%Y-%m-%d %H:%M}"
