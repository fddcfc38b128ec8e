"""Signing up: who may, invitations, and the creation of accounts."""

import re
from contextlib import suppress
from datetime import datetime
from smtplib import SMTPException, SMTPRecipientsRefused
from typing import Any, ClassVar, cast
from urllib.parse import urlsplit

import structlog
from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.models import EmailAddress
from allauth.core import ratelimit
from allauth.core.context import request_context
from django import forms
from django.conf import settings
from django.contrib.auth.models import Group
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone, translation
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from accounts.authentication import activate_locale
from accounts.errors import AccountExistsError, AddressRefusedError, GateError, InvitationError, MailError
from accounts.models import Invitation, User
from accounts.pages.devices import name_browser

log = structlog.get_logger(__name__)
OPERATORS = "Operators"  # the group
INVITATION_KEY = "invitation"  # in the session
SIGNUP_KEY = "signup"  # in the session: what `note_signup` notes
MAIL_LIMIT_SECONDS = 180
MAIL_LIMIT = gettext_lazy(
    "To one address, Kith sends this e-mail once in three minutes and five times an hour at most. "
    "Look in your spam folder, or try again later."
)
INVITATION_CODE = re.compile(r"[\w-]{1,32}", re.ASCII)


class AccountAdapter(DefaultAccountAdapter):  # type: ignore[misc]
    """allauth's adapter, changed: who may sign up, their time zone and language, the links in mails, some errors."""

    error_messages: ClassVar[dict[str, Any]] = DefaultAccountAdapter.error_messages | {
        "duplicate_email": gettext_lazy("This address is in your account already."),
        "email_password_mismatch": gettext_lazy(
            "This address and password do not belong together. Check both."
        ),
        "max_email_addresses": gettext_lazy("You cannot have more than %d e-mail addresses here."),
        "incorrect_password": gettext_lazy("This is not your password."),
        "too_many_login_attempts": gettext_lazy("Too many tries. Wait a few minutes, then try again."),
        "unverified_primary_email": gettext_lazy("This address must be confirmed first."),
    }

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        """Return whether this visitor may sign up, by KITH_SIGNUP."""
        if settings.KITH_SIGNUP == "invite":
            return find_invitation(request) is not None
        return bool(settings.KITH_SIGNUP == "open")

    def clean_email(self, email: str) -> str:
        """Return the cleaned address; raise ValidationError if it is longer than its column, or no mail can have it.

        A domain that a mail would write otherwise, such as one in full-width letters, is refused as well: otherwise
        the limits on mails to one address could be passed by writing it in many ways.
        """
        field, domain = User._meta.get_field("email"), email.rpartition("@")[2].lower()
        try:
            is_written_so = domain.isascii() or domain.encode("idna").decode("idna") == domain
        except UnicodeError:
            is_written_so = False
        if len(email) > (field.max_length or 0) or not is_written_so:
            raise forms.ValidationError(_("Enter a valid e-mail address."))
        return cast(str, super().clean_email(email))

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send a mail whose links lead to KITH_URL, whatever host the request named.

        Raise MailError if that fails, AddressRefusedError if the mail server refuses the address for good. It does not
        count as sent, so another try soon sends one: allauth would say that a mail to verify the address was sent
        within the last three minutes, and send none.
        """
        links = {name: at_kith_url(link) for name, link in context.items() if name.endswith("_url")}
        if "signup_url" in links and not self.is_open_for_signup(self.request):
            links["signup_url"] = ""
        site = {"current_site": {"domain": urlsplit(settings.KITH_URL).netloc}}
        try:
            super().send_mail(template_prefix, email, context | links | site)
        except (SMTPException, OSError) as error:
            log.error("mail_not_sent", error=type(error).__name__)
            ratelimit.clear(self.request, action="confirm_email", key=email.lower())
            if isinstance(error, SMTPRecipientsRefused) and all(
                code >= 500 for code, _said in error.recipients.values()
            ):
                detail = _(
                    "The mail server does not accept this address. Nothing was changed; check how it is written."
                )
                raise AddressRefusedError("address_refused", detail) from error
            detail = _("Kith cannot send mail right now. Nothing was changed; try again in a few minutes.")
            raise MailError("mail_away", detail) from error

    def send_notification_mail(
        self,
        template_prefix: str,
        user: User,
        context: dict[str, Any] | None = None,
        email: str | None = None,
    ) -> None:
        """Tell the person by mail, in their language and time zone, what was changed, and what to do if it was not they.

        The subject says what was changed. The change stands also if the mail cannot be sent.
        """
        more = {
            "subject": f"{template_prefix}_subject.txt",
            "browser": name_browser(self.get_http_user_agent(self.request)),
            "reset_url": reverse("account_reset_password"),
        }
        with (
            translation.override(get_language()),
            timezone.override(timezone.get_current_timezone()),
            suppress(MailError),
        ):
            activate_locale(user)
            super().send_notification_mail(template_prefix, user, (context or {}) | more, email)

    def respond_email_verification_sent(self, request: HttpRequest, user: User | None) -> HttpResponse:
        """Note whose address is to be confirmed, for the page that says so, also if they only signed in."""
        if user:
            note_signup(request, user, user.email)
        return cast(HttpResponse, super().respond_email_verification_sent(request, user))

    def set_password(self, user: User, password: str) -> None:
        """Save a new password alone, so that what an operator takes away meanwhile is not given back."""
        user.set_password(password)
        user.save(update_fields=["password"])

    def save_user(self, request: HttpRequest, user: User, form: forms.Form, commit: bool = True) -> User:
        """Save the user with the form's time zone and the current language; return the user."""
        user.time_zone = form.cleaned_data.get("time_zone", "UTC")
        language = get_language() or ""
        user.language = language if language in dict(settings.LANGUAGES) else ""
        return cast(User, super().save_user(request, user, form, commit))


def notify_of_command(user: User, template_prefix: str) -> None:
    """Tell the person by mail what a command has changed, as pages tell it; no browser and no address are named."""
    request = HttpRequest()  # which allauth's mails are about
    request.META |= {"HTTP_HOST": urlsplit(settings.KITH_URL).netloc, "REMOTE_ADDR": "127.0.0.1"}
    with request_context(request):
        get_adapter().send_notification_mail(template_prefix, user, {"ip": ""})


def at_kith_url(link: str) -> str:
    """Return the link with the scheme, host and port of KITH_URL."""
    return str(settings.KITH_URL) + urlsplit(link)._replace(scheme="", netloc="").geturl()


def find_invitation(request: HttpRequest) -> str | None:
    """Return the visitor's unused invitation code, from `?invite=CODE` or the session, or None.

    The code is kept in the session.
    """
    code = request.GET.get("invite") or request.session.get(INVITATION_KEY, "")
    if not INVITATION_CODE.fullmatch(code) or not Invitation.objects.filter(code=code, used_at=None).exists():
        return None
    if request.session.get(INVITATION_KEY) != code:
        request.session[INVITATION_KEY] = code
    return str(code)


def use_invitation(request: HttpRequest, user: User, now: datetime) -> None:
    """Mark the visitor's invitation as used by the user; raise InvitationError if it is used already.

    Call this in the transaction that creates the user: of two users of one code, the second waits for the first.
    """
    code = request.session.pop(INVITATION_KEY, "")
    if not Invitation.objects.filter(code=code, used_at=None).update(used_by=user, used_at=now):
        raise InvitationError(_("This invitation has already been used. Ask for a new one."))


def note_signup(request: HttpRequest, user: User | None, email: str) -> None:
    """Note in the session whose address is to be confirmed; `user` is None if a sign-up named an address that is taken.

    With it the visitor can have the mail sent again, and correct the address of an account that was never used.
    """
    is_new = user is None or user.last_login is None
    request.session[SIGNUP_KEY] = {"user": user.pk if user else None, "email": email, "is_new": is_new}


def may_send_confirmation(request: HttpRequest, email: str, *, dry_run: bool = False) -> bool:
    """Return whether a mail to confirm the address may be sent now, and count it unless `dry_run`."""
    return bool(ratelimit.consume(request, action="confirm_email", key=email.lower(), dry_run=dry_run))


def send_confirmation_again(request: HttpRequest) -> bool:
    """Send the mail that this session's visitor is waiting for once more; return whether there was one to send, and
    raise GateError if that is too soon.

    There is none if the address was confirmed meanwhile, or the sign-up withdrawn. The owner of an address that is
    taken gets the same mail as at the sign-up, so that nobody learns whether it is.
    """
    noted = request.session.get(SIGNUP_KEY)
    if not noted:
        return False
    unconfirmed = EmailAddress.objects.filter(
        user=noted["user"], email=noted["email"].lower(), verified=False
    )
    address = unconfirmed.first() if noted["user"] else None
    if noted["user"] and not address:
        return False
    if not may_send_confirmation(request, noted["email"]):
        raise GateError("mail_sent_already", str(MAIL_LIMIT), MAIL_LIMIT_SECONDS)
    if address:
        address.send_confirmation(request, signup=noted["is_new"])
    else:
        get_adapter().send_account_already_exists_mail(noted["email"])
    return True


def withdraw_signup(request: HttpRequest) -> None:
    """Delete the account that was created in this session, unless it was ever used, and end the session.

    The invitation can be used again, and stays in the new session. As the link that was sent is dead now, a new one can
    be sent to the same address at once.
    """
    user_id, email = (request.session.get(SIGNUP_KEY, {}).get(name) for name in ("user", "email"))
    code = request.session.get(INVITATION_KEY, "")
    with transaction.atomic():
        unused = User.objects.filter(pk=user_id, is_active=True, last_login=None)
        addresses = list(EmailAddress.objects.select_for_update().filter(user__in=unused))
        if addresses and not any(address.verified for address in addresses):
            invitations = Invitation.objects.filter(used_by=user_id)
            code = "".join(invitations.values_list("code", flat=True))
            invitations.update(used_by=None, used_at=None)
            addresses[0].user.delete()
    if email and ratelimit.consume(request, action="withdraw_signup", key=email.lower()):
        ratelimit.clear(request, action="confirm_email", key=email.lower())
    request.session.flush()
    if code:
        request.session[INVITATION_KEY] = code


def create_account(email: str, password: str, **fields: Any) -> User:
    """Create a user with a verified e-mail address, in the group of operators if staff; raise AccountExistsError."""
    try:
        with transaction.atomic():
            user = User.objects.create_user(email, password, **fields)
            EmailAddress.objects.create(user=user, email=user.email, verified=True, primary=True)
            if user.is_staff:
                user.groups.add(*Group.objects.filter(name=OPERATORS))
    except IntegrityError as error:
        raise AccountExistsError(f"There is an account for {email} already.") from error
    return user
