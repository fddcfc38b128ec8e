from datetime import datetime, timedelta
from typing import Any, ClassVar, cast

from allauth.account import forms as allauth
from django import forms
from django.conf import settings
from django.contrib.auth.hashers import make_password
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from accounts.errors import AccountExistsError
from accounts.models import Token, User
from accounts.models.user import list_time_zones
from accounts.signup import use_invitation
from accounts.time_zones import MAX_NAME_CHARACTERS, find_time_zone

MAX_EMAIL_CHARACTERS = 254
MAX_PASSWORD_CHARACTERS = 1000
PASSWORD_HELP = _("At least eight characters, and not a password that many people use.")


class ZoneField(forms.CharField):
    """The browser's time zone, or UTC if what it sent is no known zone."""

    widget = forms.HiddenInput

    def clean(self, value: Any) -> str:
        return value if value in list_time_zones() else "UTC"


class AddressForm(forms.Form):
    """Mixin for a form of allauth with an e-mail address, which Kith's pages all call the same."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field = self.fields["login" if "login" in self.fields else "email"]
        field.label = _("E-mail address")
        field.error_messages["invalid"] = _("Enter a valid e-mail address.")


class LoginForm(AddressForm, allauth.LoginForm):  # type: ignore[misc]
    """Sign-in by e-mail address and password."""


class AddEmailForm(AddressForm, allauth.AddEmailForm):  # type: ignore[misc]
    """Another e-mail address of an account."""


class ResetPasswordForm(AddressForm, allauth.ResetPasswordForm):  # type: ignore[misc]
    """The address to which a link for choosing a new password is sent."""


class SignupForm(AddressForm, allauth.SignupForm):  # type: ignore[misc]
    """Sign-up by e-mail address and password, with the time zone that the page's script fills in."""

    time_zone = ZoneField(required=False)
    field_order = ("email", "password1", "time_zone")
    is_refused = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, limit in (("email", MAX_EMAIL_CHARACTERS), ("password1", MAX_PASSWORD_CHARACTERS)):
            field = cast(forms.CharField, self.fields[name])
            field.max_length = limit
            field.validators.append(MaxLengthValidator(limit))
            field.widget.attrs["maxlength"] = limit
        self.fields["password1"].help_text = PASSWORD_HELP

    def validate_unique_email(self, value: str) -> str:
        """Return the address even if taken: `clean` or `try_save` deals with it, as slowly as with a new one."""
        try:
            return str(super().validate_unique_email(value))
        except forms.ValidationError:
            self.is_refused = True
            return value

    def clean(self) -> dict[str, Any]:
        """Refuse an address that is taken, if no mail can tell its owner, in words that do not say that it is taken.

        The password is hashed all the same, so that the time taken does not give it away either.
        """
        cleaned = cast(dict[str, Any], super().clean())
        if self.is_refused and not self.errors:
            make_password(cleaned["password1"])
            self.add_error(
                "email", _("You cannot sign up with this address. If you already have an account, sign in.")
            )
        return cleaned

    def try_save(self, request: HttpRequest) -> tuple[User | None, HttpResponse | None]:
        """Create the user, or mail the owner of an address that is taken, hashing a password in both cases."""
        if self.account_already_exists:
            make_password(self.cleaned_data["password1"])
        return cast(tuple[User | None, HttpResponse | None], super().try_save(request))

    def save(self, request: HttpRequest) -> User:
        """Return the new user; raise AccountExistsError or InvitationError if address or invitation were just taken."""
        try:
            with transaction.atomic():
                user: User = super().save(request)
                if settings.KITH_SIGNUP == "invite":
                    use_invitation(request, user, timezone.now())
        except IntegrityError as error:
            raise AccountExistsError(
                gettext("Someone has just signed up with this e-mail address.")
            ) from error
        return user


class PlaceField(forms.CharField):
    """A time zone, typed by its name or a city's, or chosen from the page's datalist `time-zones`."""

    def __init__(self, **kwargs: Any) -> None:
        widget = forms.TextInput(attrs={"list": "time-zones", "autocomplete": "off", "spellcheck": "false"})
        super().__init__(max_length=MAX_NAME_CHARACTERS, widget=widget, **kwargs)

    def clean(self, value: Any) -> str:
        zone = find_time_zone(super().clean(value))
        if zone is None:
            raise forms.ValidationError(
                _(
                    "There is no time zone with this name. Type the largest city near you, such as Berlin or Beijing."
                )
            )
        return zone


class ProfileForm(forms.ModelForm):  # type: ignore[type-arg]
    """A person's name, description in their own words, time zone and language."""

    time_zone = PlaceField(
        label=_("Time zone"), help_text=_("Type a city near you, then choose from the list.")
    )
    language = forms.ChoiceField(
        label=_("Language"), required=False, choices=[("", _("Same as my browser")), *settings.LANGUAGES]
    )

    class Meta:
        model = User
        fields = ("name", "about", "time_zone", "language")
        widgets: ClassVar[dict[str, Any]] = {"about": forms.Textarea(attrs={"rows": 4})}
        help_texts: ClassVar[dict[str, Any]] = {
            "about": _("Who you are, in your own words. Your companions read it before every answer."),
        }

    def save(self, commit: bool = True) -> User:
        """Save the form's fields alone, so that what an operator takes away meanwhile is not given back."""
        user: User = self.instance
        user.save(update_fields=self.Meta.fields)
        return user


class TokenForm(forms.ModelForm):  # type: ignore[type-arg]
    """A new API token's name, and how long it is valid."""

    days = forms.TypedChoiceField(
        label=_("How long it lasts"),
        required=False,
        coerce=int,
        empty_value=None,
        choices=[
            ("", _("until it is revoked")),
            (7, _("a week")),
            (30, _("30 days")),
            (90, _("90 days")),
            (365, _("a year")),
        ],
    )

    class Meta:
        model = Token
        fields = ("name",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # The profile's form on the same page has a field "name" as well.
        super().__init__(*args, **{"auto_id": "token_%s", **kwargs})

    def expires_at(self, now: datetime) -> datetime | None:
        """Return when a token that is created `now` expires, or None if it never does."""
        days = self.cleaned_data["days"]
        return now + timedelta(days=days) if days else None


class EndingTokens(forms.Form):
    """Mixin for a form with a new password: a checkbox that revokes all the person's API tokens as well."""

    end_tokens = forms.BooleanField(label=_("Also revoke all API tokens"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        new, again = self.fields["password1"], self.fields["password2"]
        new.label, new.help_text, again.label = _("New password"), PASSWORD_HELP, _("The new password again")

    def save(self) -> None:
        super().save()  # type: ignore[misc]
        if self.cleaned_data["end_tokens"]:
            Token.objects.owned_by(self.user).revoke(timezone.now())  # type: ignore[attr-defined]


class ChangePasswordForm(EndingTokens, allauth.ChangePasswordForm):  # type: ignore[misc]
    """A new password for a person who knows the old one."""

    field_order = ("oldpassword", "password1", "password2", "end_tokens")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["oldpassword"].label = _("Current password")


class ResetPasswordKeyForm(EndingTokens, allauth.ResetPasswordKeyForm):  # type: ignore[misc]
    """A new password for a person who followed the link in a mail."""

    field_order = ("password1", "password2", "end_tokens")


class DeletionForm(allauth.ReauthenticateForm):  # type: ignore[misc]
    """Asks for the password before the account is deleted, against slips and people who find an open browser."""

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, user=user, **kwargs)
        password = self.fields["password"]
        password.max_length = MAX_PASSWORD_CHARACTERS
        password.error_messages["required"] = _(
            "Type your password, to confirm that everything is to be deleted."
        )
