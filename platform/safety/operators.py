"""Operators' rights, and their changes to how a person signs in, which are recorded and told to the person."""

from datetime import datetime
from typing import Any

import structlog
from allauth.account.models import EmailAddress
from allauth.account.signals import password_changed, password_reset
from django.apps import AppConfig
from django.conf import settings
from django.contrib.auth.models import Group, Permission
from django.contrib.auth.signals import user_logged_in
from django.core.mail import send_mail
from django.db import transaction
from django.dispatch import receiver
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.models import Token, User
from accounts.signup import OPERATORS
from safety.audit import record
from safety.models import AuditEntry, Notice, OperatorAccess
from safety.notices import describe, save_once

log = structlog.get_logger(__name__)
Deed = AuditEntry.Deed
APPS = frozenset({"accounts", "files", "safety", "memory", "companions", "voice", "providers"})
ACCOUNT_TEXTS = {
    Deed.CLOSED: gettext_lazy(
        "An operator of this Kith has closed your account. You cannot sign in to it, and your companions do not write to"
        " you. Nothing in it was deleted. If you do not agree, or want a copy of what is in it, write to the operator."
    ),
    Deed.REOPENED: gettext_lazy(
        "An operator of this Kith has opened your account again. You can sign in as before."
    ),
}
GIVEN = ("delete_message", "delete_memory", "decide_galleryversion")  # in addition to viewing


def grant_rights(sender: AppConfig, using: str, **kwargs: Any) -> None:
    """Give the operators' group its rights after each migration, also on new models. For fewer, make another group."""
    if sender.label not in APPS:
        return
    rights = Permission.objects.using(using).filter(content_type__app_label=sender.label)
    group, _ = Group.objects.using(using).get_or_create(name=OPERATORS)
    group.permissions.add(*rights.filter(codename__startswith="view_"), *rights.filter(codename__in=GIVEN))


@transaction.atomic
def record_password_set(operator: User, person: User, now: datetime, *, is_new: bool = False) -> None:
    """Record that the operator set the person's password, and tell the person unless the account is new.

    Do nothing if the password is the operator's own.
    """
    if operator.pk == person.pk:
        return
    access = _load_or_begin_access(operator, person, now)
    record(operator, Deed.PASSWORD_SET, User, person.pk, person.pk)
    if not is_new:
        _notify(access, Notice.Kind.PASSWORD_SET, now)


@transaction.atomic
def record_address_change(operator: User, person: User, now: datetime) -> None:
    """Record that the operator added, changed or deleted a person's address; tell the person at their former one.

    Do nothing if the address is the operator's own.
    """
    if operator.pk == person.pk:
        return
    access = _load_or_begin_access(operator, person, now)
    OperatorAccess.objects.filter(pk=access.pk).update(is_address_changed=True)
    record(operator, Deed.ADDRESS_CHANGED, User, person.pk, person.pk)
    _notify(access, Notice.Kind.ADDRESS_CHANGED, now)


@transaction.atomic
def record_account_change(operator: User, person: User, *, was_active: bool, reason: str) -> None:
    """Record that the operator changed the person's account. If it was closed or opened again, mail that to the person.

    Do nothing if the account is the operator's own.
    """
    if operator.pk == person.pk:
        return
    if was_active == person.is_active:
        record(operator, Deed.CHANGED, User, person.pk, person.pk)
        return
    deed = Deed.REOPENED if person.is_active else Deed.CLOSED
    record(operator, deed, User, person.pk, person.pk, reason)
    text = ACCOUNT_TEXTS[deed]
    transaction.on_commit(lambda: _send_mail(person, person.email, text, reason), robust=True)


@receiver(user_logged_in)
@transaction.atomic
def record_sign_in(user: User, **_more: Any) -> None:
    """Record a sign-in and tell the user, if an operator may be able to sign in as them."""
    access = OperatorAccess.objects.select_related("operator", "user").filter(user=user).first()
    if access is None:
        return
    record(access.operator, Deed.SIGNED_IN, User, user.pk, user.pk)
    _notify(access, Notice.Kind.SIGNED_IN, timezone.now())


@receiver(password_changed)
def end_access_after_change(user: User, **_more: Any) -> None:
    """End an operator's access if no mail is configured; otherwise only a reset proves that it was the user."""
    if not settings.EMAIL_URL:
        _end_access(user)


@receiver(password_reset)
def end_access_after_reset(user: User, **_more: Any) -> None:
    """End an operator's access: whoever reset the password can read the person's mail."""
    _end_access(user)


@transaction.atomic
def _end_access(person: User) -> None:
    """End the access and revoke API tokens made during it, unless an address was added since it began."""
    access = OperatorAccess.objects.owned_by(person).first()
    if access and _load_addresses(person) <= set(access.addresses):
        Token.objects.owned_by(person).filter(created_at__gte=access.at).revoke(timezone.now())
        access.delete()


def _load_or_begin_access(operator: User, person: User, now: datetime) -> OperatorAccess:
    """Return the person's OperatorAccess, which keeps the addresses from before any operator's change."""
    rows = OperatorAccess.objects.select_related("user")
    before = {"email": person.email, "addresses": sorted(_load_addresses(person))}
    access, is_new = rows.get_or_create(user=person, defaults={"operator": operator, "at": now, **before})
    if not is_new:
        access.operator = operator
        access.save(update_fields=["operator"])
    return access


def _load_addresses(person: User) -> set[str]:
    """Return the addresses to which a password reset can be sent, in lower case."""
    more = EmailAddress.objects.filter(user=person).values_list("email", flat=True)
    return {address.lower() for address in (person.email, *more)}


def _notify(access: OperatorAccess, kind: Notice.Kind, now: datetime) -> None:
    """Send a notice by mail on commit, and save it unless an undismissed one of the kind exists."""
    notice = Notice(user=access.user, kind=kind, made_at=now)
    save_once(notice)
    transaction.on_commit(lambda: _send_mail(access.user, access.email, describe(notice)), robust=True)


def _send_mail(person: User, email: str, text: str | Promise, reason: str = "") -> None:
    with person.use_language():
        lines = (str(text), reason, settings.KITH_URL, settings.CONTACT)
        try:
            send_mail(_("Your account at Kith"), "\n\n".join(filter(None, lines)) + "\n", None, [email])
        except OSError as error:  # the mail server failed; the notice is still shown in Kith
            log.warning("mail_not_sent", error=type(error).__name__)
