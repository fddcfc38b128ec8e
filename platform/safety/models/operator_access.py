from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet


class OperatorAccessQuerySet(OwnedQuerySet["OperatorAccess"]):
    owner = "user"


class OperatorAccess(models.Model):
    """That an operator set a person's password or changed an address of theirs, and may be able to sign in as them.

    It ends when the person chooses a password by mail, which is no proof unless the account has no other addresses than
    those before any of this, `addresses`. `email` is the one of them to which they are told of it.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    addresses = models.JSONField(default=list)
    email = models.EmailField(_("address before"))
    is_address_changed = models.BooleanField(_("an address was changed"), default=False)
    at = models.DateTimeField(_("since"))

    objects: Any = OperatorAccessQuerySet.as_manager()

    class Meta:
        verbose_name = _("operator's access")
        verbose_name_plural = _("operators' access")

    def __str__(self) -> str:
        return f"{self.user_id} {self.at:%Y-%m-%d %H:%M}"
