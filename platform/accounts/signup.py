"""Who may sign up, and how an account is opened."""

import re
from datetime import datetime
from typing import Any, cast
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailAddress
from django import forms
from django.conf import settings
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.http import HttpRequest
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts.errors import AccountExistsError, InvitationError
from accounts.models import Invitation, User

OPERATORS = "Operators"  # the group
INVITATION_KEY = "invitation"  # in the session
INVITATION_CODE = re.compile(r"[\w-]{1,32}", re.ASCII)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """What allauth does otherwise at Kith: who may sign up, and what is known of them from the first day."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether this visitor may sign up, by KITH_SIGNUP."""
        if settings.KITH_SIGNUP == "invite":
            return find_invitation(request) is not None
        return bool(settings.KITH_SIGNUP == "open")

    def clean_email(self, email: str) -> str:
        """Return the address; ValidationError where it is longer than any address, and than its column."""
        field = User._meta.get_field("email")
        if len(email) > (field.max_length or 0):
            raise forms.ValidationError(_("Enter a valid email address."))
        return cast(str, super().clean_email(email))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links lead to KITH_URL, whatever host the request named."""
        links = {name: at_kith_url(link) for name, link in context.items() if name.endswith("_url")}
        site = {"current_site": {"domain": urlsplit(settings.KITH_URL).netloc}}
        super().send_mail(template_prefix, email, context | links | site)

    def save_user(self, request: HttpRequest, user: User, form: forms.Form, commit: bool = True) -> User:
        """Return the user with the form's time zone, and the language that they signed up in."""
        user.time_zone = form.cleaned_data.get("time_zone", "UTC")
        language = get_language() or ""
        user.language = language if language in dict(settings.LANGUAGES) else ""
        return cast(User, super().save_user(request, user, form, commit))


def at_kith_url(link: str) -> str:
    """Return the link with the scheme, host and port of KITH_URL."""
    return str(settings.KITH_URL) + urlsplit(link)._replace(scheme="", netloc="").geturl()


def find_invitation(request: HttpRequest) -> str | None:
    """Return the unused code that this visitor brings, by `?invite=CODE` now or earlier in the session."""
    code = request.GET.get("invite") or request.session.get(INVITATION_KEY, "")
    if not INVITATION_CODE.fullmatch(code) or not Invitation.objects.filter(code=code, used_at=None).exists():
        return None
    if request.session.get(INVITATION_KEY) != code:
        request.session[INVITATION_KEY] = code
    return str(code)


def use_invitation(request: HttpRequest, user: User, now: datetime) -> None:
    """Mark the visitor's code as used by this user; InvitationError where someone else was faster.

    To be called in the transaction that makes the user: of two at once the second waits for the first.
    """
    code = request.session.pop(INVITATION_KEY, "")
    if not Invitation.objects.filter(code=code, used_at=None).update(used_by=user, used_at=now):
        raise InvitationError(_("This invitation has been used already. Ask for another one."))


def create_account(email: str, password: str, **fields: Any) -> User:
    """Make a user whose e-mail address counts as verified, staff in the operators' group; AccountExistsError."""
    try:
        with transaction.atomic():
            user = User.objects.create_user(email, password, **fields)
            EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
            if user.is_staff:
                user.groups.add(*Group.objects.filter(name=OPERATORS))
    except IntegrityError as error:
        raise AccountExistsError(f"There is an account for {email} already.") from error
    return user
