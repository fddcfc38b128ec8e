import secrets

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import User


def new_code() -> str:
    return secrets.token_urlsafe(12)


class Invitation(models.Model):
    """A code that lets one person sign up if KITH_SIGNUP is `invite`."""

    code = models.CharField(_("code"), max_length=32, unique=True, default=new_code, editable=False)
    note = models.CharField(_("for whom"), max_length=200, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, editable=False, related_name="+")
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    used_by = models.OneToOneField(
        User, models.SET_NULL, null=True, blank=True, editable=False, related_name="+"
    )
    used_at = models.DateTimeField(_("used"), null=True, blank=True, editable=False)

    class Meta:
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.note or self.code
