from typing import Any, cast
from urllib.parse import urlsplit

from allauth.account.adapter import DefaultAccountAdapter
from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from accounts import invitations
from accounts.models import User


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """What allauth does otherwise at Kith: who may sign up, and what is known of them from the first day."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Whether this visitor may sign up, by KITH_SIGNUP."""
        if settings.KITH_SIGNUP == "invite":
            return invitations.offered(request) is not None
        return bool(settings.KITH_SIGNUP == "open")

    def clean_email(self, email: str) -> str:
        """The address; ValidationError where it is longer than any address, and than its column."""
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
        """The user with the form's name and time zone, and the language that they signed up in."""
        user.name = form.cleaned_data.get("name", "")
        user.time_zone = form.cleaned_data.get("time_zone", "UTC")
        language = get_language() or ""
        user.language = language if language in dict(settings.LANGUAGES) else ""
        return cast(User, super().save_user(request, user, form, commit))


def at_kith_url(link: str) -> str:
    """Return the link with the scheme, host and port of KITH_URL."""
    return str(settings.KITH_URL) + urlsplit(link)._replace(scheme="", netloc="").geturl()
