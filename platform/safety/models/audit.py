import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet


class AuditEntry(models.Model):
    """That an operator opened or changed something private. Written once, never changed, kept when the thing is gone.

    `asked` is what a list was searched and filtered by, sealed with the AuditKey `asked_key`.
    """

    class Deed(models.TextChoices):
        OPENED = "opened", _("opened")
        LISTED = "listed", _("listed")
        CHANGED = "changed", _("changed")
        DELETED = "deleted", _("deleted")
        PASSWORD_SET = "password_set", _("set the password of")
        ADDRESS_CHANGED = "address_changed", _("changed an address of")
        SIGNED_IN = "signed_in", _("may have signed in as")

    operator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("operator")
    )
    deed = models.CharField(_("deed"), max_length=16, choices=Deed)
    kind = models.CharField(_("kind of thing"), max_length=80)
    object_id = models.CharField(_("its id"), max_length=64, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("whose")
    )
    reason = models.CharField(_("reason"), max_length=500, blank=True)
    asked = models.BinaryField(null=True, editable=False)
    asked_key = models.UUIDField(null=True, editable=False)
    at = models.DateTimeField(_("when"), auto_now_add=True)

    class Meta:
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit entries")
        ordering = ["-at"]

    def __str__(self) -> str:
        return f"{self.operator} {self.deed} {self.kind} {self.object_id}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if self.pk is not None:
            raise TypeError("An audit entry is never changed.")
        super().save(*args, **kwargs)


class AuditKeyQuerySet(OwnedQuerySet["AuditKey"]):
    owner = "user"


class AuditKey(models.Model):
    """What seals the values that operators searched a person's things by: when the account goes, nobody reads them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    sealed = models.BinaryField(editable=False)

    objects: Any = AuditKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.pk)
