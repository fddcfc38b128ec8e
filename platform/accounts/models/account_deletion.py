from django.db import models
from django.utils.translation import gettext_lazy as _


class AccountDeletion(models.Model):
    """Records that a user deleted their own account, and when, without anything that names them.

    `account` is the account's number, as in the audit entries about it. Deletions by operators are audited instead;
    any that had to be repeated after a backup was restored are here.
    """

    account = models.PositiveBigIntegerField(_("number of the account"))
    joined_at = models.DateTimeField(_("date joined"))
    deleted_at = models.DateTimeField(_("when it was deleted"))

    class Meta:
        verbose_name = _("deletion of an account")
        verbose_name_plural = _("deletions of accounts")
        ordering = ["-deleted_at"]

    def __str__(self) -> str:
        return f"{self.account} {self.deleted_at:%Y-%m-%d %H:%M}"
