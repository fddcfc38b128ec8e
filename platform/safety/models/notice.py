import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet


class NoticeQuerySet(OwnedQuerySet["Notice"]):
    owner = "user"


class Notice(models.Model):
    """Something that a person must be told, outside of any companion's voice; kept as a proof that they were."""

    class Kind(models.TextChoices):
        AI = "ai", _("this is an AI")
        BREAK = "break", _("a break is due")
        PASSWORD_SET = "password_set", _("an operator set the password")
        ADDRESS_CHANGED = "address_changed", _("an operator changed an address")
        SIGNED_IN = "signed_in", _("signed in after an operator did")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    minutes = models.PositiveIntegerField(_("minutes together"), default=0)
    made_at = models.DateTimeField(_("made"))
    seen_at = models.DateTimeField(_("seen"), null=True, blank=True)

    objects = NoticeQuerySet.as_manager()

    class Meta:
        verbose_name = _("notice")
        verbose_name_plural = _("notices")
        ordering = ["-made_at"]
        indexes = [models.Index(fields=["user", "-made_at"], name="notice_user_time")]  # what is to be shown

    def __str__(self) -> str:
        return f"{self.kind} {self.made_at:%Y-%m-%d %H:%M}"
