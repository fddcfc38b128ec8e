"""The audit trail of operators' views and actions, operators' access to accounts, and notices to people."""

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import UserOwnedQuerySet


class AuditEntry(models.Model):
    """Records that an operator viewed or changed something private. Never changed; outlives the object it is about.

    `asked` is the query by which a list was searched and filtered, encrypted with the AuditKey `asked_key`.
    """

    class Deed(models.TextChoices):
        OPENED = "opened", _("opened")
        LISTED = "listed", _("listed")
        CHANGED = "changed", _("changed")
        DELETED = "deleted", _("deleted")
        PASSWORD_SET = "password_set", _("set the password of")
        ADDRESS_CHANGED = "address_changed", _("changed an address of")
        SIGNED_IN = "signed_in", _("may have signed in as")
        CLOSED = "closed", _("closed the account of")
        REOPENED = "reopened", _("reopened the account of")

    operator = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("operator")
    )
    deed = models.CharField(_("action"), max_length=16, choices=Deed)
    kind = models.CharField(_("kind of object"), max_length=80)
    object_id = models.CharField(_("object id"), max_length=64, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("owner")
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


class AuditKey(models.Model):
    """A user's key, which encrypts operators' searches that found the user's data, or an operator's that found nothing.

    It is deleted with the account, and the searches can no longer be read.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    sealed = models.BinaryField(editable=False)

    objects: Any = UserOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.pk)


class Notice(models.Model):
    """Something that a user must be told by Kith itself and not by a companion; kept as proof that they were."""

    class Kind(models.TextChoices):
        AI = "ai", _("this is an AI")
        BREAK = "break", _("a break is due")
        CRISIS = "crisis", _("help lines, in a crisis")
        PASSWORD_SET = "password_set", _("an operator set the password")
        ADDRESS_CHANGED = "address_changed", _("an operator changed an address")
        SIGNED_IN = "signed_in", _("signed in after an operator did")
        PUBLICATION = "publication", _("an operator decided about a character")
        REPORT_UPHELD = "report_upheld", _("a reported character was taken down")
        REPORT_SETTLED = "report_settled", _("a report was dealt with")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notices")
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    minutes = models.PositiveIntegerField(_("minutes of continuous use"), default=0)
    made_at = models.DateTimeField(_("created"))
    seen_at = models.DateTimeField(_("seen"), null=True, blank=True)

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("notice")
        verbose_name_plural = _("notices")
        ordering = ["-made_at"]
        indexes = [models.Index(fields=["user", "-made_at"], name="notice_user_time")]  # unseen notices

    def __str__(self) -> str:
        return f"{self.kind} {self.made_at:%Y-%m-%d %H:%M}"


class ContinuousUse(models.Model):
    """Since when (`begun_at`) a user has been talking without a pause, over all companions and channels.

    `told_at` is when they were last told that a break is due, `ai_told_on` the day, in their time zone, on which they
    were last told that this is an AI.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="continuous_use"
    )
    begun_at = models.DateTimeField(_("since"))
    last_at = models.DateTimeField(_("last message"))
    told_at = models.DateTimeField(_("last suggestion of a break"), null=True, blank=True)
    ai_told_on = models.DateField(_("last reminder that this is an AI"), null=True, blank=True)

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        db_table = "safety_together"
        verbose_name = _("continuous use")
        verbose_name_plural = _("periods of continuous use")

    def __str__(self) -> str:
        return f"{self.user_id} {self.begun_at:%Y-%m-%d %H:%M}"


class OperatorAccess(models.Model):
    """Records that an operator set a user's password or changed their address, and may thus be able to sign in as them.

    It ends when the user resets the password by mail (or changes it, if no mail is sent), provided that the account has
    no addresses but `addresses`, those before the operator's first change. `email` is the one of them that is notified.
    """

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+")
    operator = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+")
    addresses = models.JSONField(default=list)
    email = models.EmailField(_("address before"))
    is_address_changed = models.BooleanField(_("an address was changed"), default=False)
    at = models.DateTimeField(_("since"))

    objects: Any = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("operator's access")
        verbose_name_plural = _("operators' access")

    def __str__(self) -> str:
        return f"{self.user_id} {self.at:%Y-%m-%d %H:%M}"
