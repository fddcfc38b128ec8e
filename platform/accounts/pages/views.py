from typing import Any

from allauth.account import app_settings
from allauth.account import views as allauth
from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailAddress
from allauth.core import ratelimit
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.db import IntegrityError, transaction
from django.db.models import ProtectedError
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views import i18n
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from accounts import signup
from accounts.authentication import SignedInRequest, activate_locale
from accounts.errors import AccountExistsError, GateError, InvitationError
from accounts.limits.usage import load_allowance
from accounts.models import AccountDeletion, Token, User
from accounts.pages.forms import DeletionForm, ProfileForm, TokenForm
from accounts.pages.own_models import UNPROCESSABLE, has_own_models_page
from accounts.time_zones import list_choices
from database.queries import lift_statement_timeout
from text.strings import storable


class SignupView(allauth.SignupView):  # type: ignore[misc]
    """allauth's sign-up, with 403 if it is closed, and a clear error if the address or invitation was just taken."""

    def form_valid(self, form: Form) -> HttpResponse:
        try:
            with transaction.atomic():  # so that there is no account if the mail to verify it is not sent
                response: HttpResponse = super().form_valid(form)
            signup.note_signup(self.request, self.user, form.cleaned_data["email"])
        except (AccountExistsError, InvitationError) as error:
            form.add_error(None, str(error))
            response = self.form_invalid(form)
        return response

    def closed(self) -> HttpResponse:
        response: HttpResponse = super().closed()
        response.status_code = 403
        return response


@require_POST
def withdraw_signup(request: HttpRequest) -> HttpResponse:
    """Take back a sign-up with a wrong address, and show the form for it anew."""
    if not request.user.is_authenticated:
        signup.withdraw_signup(request)
    return redirect("account_signup")


@require_POST
def send_confirmation_again(request: HttpRequest) -> HttpResponse:
    """Send the mail of a sign-up once more, and show the page that says so; whoever needs none is asked to sign in."""
    try:
        is_sent = not request.user.is_authenticated and signup.send_confirmation_again(request)
    except GateError as error:
        messages.error(request, str(error.detail))
        return redirect("account_email_verification_sent")
    if not is_sent:
        return redirect("account_login")
    messages.success(request, _("The e-mail was sent again."))
    return redirect("account_email_verification_sent")


class EmailView(allauth.EmailView):  # type: ignore[misc]
    """allauth's page of e-mail addresses, with a clear error if another account has the one to be used."""

    def form_valid(self, form: Form) -> HttpResponse:
        """Add the address, and tell the one in use of it: by the new one a password can be reset."""
        response: HttpResponse = super().form_valid(form)
        added = {"email_added": form.cleaned_data["email"]}
        get_adapter().send_notification_mail("account/email/email_added", self.request.user, added)
        return response

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "action_send" in request.POST:
            email = storable(request.POST.get("email", ""))
            mine = EmailAddress.objects.filter(user=request.user, email=email.lower())
            if mine.filter(verified=True).exists():  # on a page that was opened before
                messages.success(request, _("This address is confirmed already."))
                return redirect("account_email")
            if not signup.may_send_confirmation(request, email, dry_run=True):
                messages.error(request, str(signup.MAIL_LIMIT))
                return redirect("account_email")
        try:
            with transaction.atomic():
                response: HttpResponse = super().post(request, *args, **kwargs)
        except IntegrityError:
            messages.error(request, _("There is already an account with this e-mail address."))
            response = redirect("account_email")
        return response


class ConfirmEmailView(allauth.ConfirmEmailView):  # type: ignore[misc]
    """allauth's page of a link in a mail, which says also why a link does not work, and where to go on."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            response: HttpResponse = super().post(request, *args, **kwargs)
        except Http404:
            response = self.get(request, *args, **kwargs)
        return response

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**kwargs)
        if not self.object:
            context["reason"] = self.find_reason()
        return context

    def find_reason(self) -> str:
        """Return why the link does not work: "broken", "withdrawn", "used" or "expired"."""
        try:
            pk = signing.loads(self.kwargs["key"], salt=app_settings.SALT)
        except signing.BadSignature:
            return "broken"
        address = EmailAddress.objects.filter(pk=pk).first()
        if not address:
            return "withdrawn"
        return "used" if address.verified else "expired"


def render_settings(request: SignedInRequest, status: int = 200, **changed: Any) -> HttpResponse:
    """Render the settings page; `changed` overrides its context, e.g. with an invalid form or a new token."""
    context = {
        "profile_form": ProfileForm(instance=request.user),
        "token_form": TokenForm(),
        "deletion_form": DeletionForm(request.user),
        "tokens": Token.objects.owned_by(request.user).live(),
        "allowance": load_allowance(request.user, timezone.now()),
        "has_own_models": has_own_models_page(request.user),
        "now": timezone.now(),
        "time_zones": list_choices(),
    }
    return render(request, "accounts/settings.html", context | changed, status=status)


@require_safe
@login_required
@never_cache
def show_settings(request: SignedInRequest) -> HttpResponse:
    return render_settings(request)


@require_POST
def switch_language(request: HttpRequest) -> HttpResponse:
    """Switch the visitor's pages to the submitted language, and save it for a signed-in user."""
    response: HttpResponse = i18n.set_language(request)
    language = request.POST.get("language", "")
    if request.user.is_authenticated and language in dict(settings.LANGUAGES):
        User.objects.filter(pk=request.user.pk).update(language=language)
    return response


@require_POST
@login_required
def save_profile(request: SignedInRequest) -> HttpResponse:
    form = ProfileForm(request.POST, instance=request.user)
    if not form.is_valid():
        request.user.refresh_from_db()
        return render_settings(request, UNPROCESSABLE, profile_form=form)
    activate_locale(form.save())
    messages.success(request, _("Saved."))
    return redirect("settings")


@require_POST
@login_required
@reauthentication_required  # type: ignore[untyped-decorator]
@never_cache
def make_token(request: SignedInRequest) -> HttpResponse:
    """Issue a token, and answer with the settings page that shows it, this once.

    Like a change of how to sign in, this asks for the password and is told by mail: a token needs none, and outlives
    the session.
    """
    form = TokenForm(request.POST)
    if Token.objects.owned_by(request.user).live().count() >= settings.TOKENS_EACH:
        form.add_error(None, _("You have reached the limit for tokens. Revoke one first."))
    if not form.is_valid():
        return render_settings(request, UNPROCESSABLE, token_form=form)
    now = timezone.now()
    token, plaintext = Token.objects.issue(request.user, form.cleaned_data["name"], form.expires_at(now))
    get_adapter().send_notification_mail("account/email/token_made", request.user)
    return render_settings(request, 201, new_token=token, plaintext=plaintext)


@require_POST
@login_required
def revoke_token(request: SignedInRequest, pk: int) -> HttpResponse:
    get_object_or_404(Token.objects.owned_by(request.user).live(), pk=pk).revoke(timezone.now())
    messages.success(request, _("The token no longer works."))
    return redirect("settings")


@require_POST
@login_required
def delete_account(request: SignedInRequest) -> HttpResponse:
    """Delete the account and everything in it; refuse (409) if the audit names the person as an operator."""
    form = DeletionForm(request.user, request.POST)
    if not ratelimit.consume(request, action="reauthenticate", user=request.user):
        form.add_error(None, _("That was tried too often. Wait a minute, then try again."))
    if not form.is_valid():
        return render_settings(request, UNPROCESSABLE, deletion_form=form)
    try:
        with transaction.atomic():
            lift_statement_timeout()
            AccountDeletion.objects.create(
                account=request.user.pk, joined_at=request.user.date_joined, deleted_at=timezone.now()
            )
            request.user.delete()
    except ProtectedError:
        form.add_error(
            None, _("The record of what operators opened names you, so this account cannot be deleted.")
        )
        return render_settings(request, 409, deletion_form=form)
    logout(request)
    messages.success(request, _("Your account and everything in it have been deleted."))
    return redirect("welcome")
