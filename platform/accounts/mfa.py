"""The second step of signing in, by allauth: codes of an authenticator app, passkeys, and recovery codes."""

import json
from collections.abc import Callable
from typing import Any, cast

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.base.forms import AuthenticateForm as AllauthAuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as AllauthReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import (
    AddWebAuthnForm,
    AuthenticateWebAuthnForm,
    EditWebAuthnForm,
    LoginWebAuthnForm,
    ReauthenticateWebAuthnForm,
)
from django import forms
from django.conf import settings
from django.core.cache import cache
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext as _
from fido2.webauthn import AuthenticationResponse, RegistrationResponse

from accounts.models import User
from database import encryption

MAX_CODE_CHARACTERS = 32
MAX_KEY_NAME_CHARACTERS = 60
MAX_KEYS = 20
TOTP_PERIOD_SECONDS = 30  # as authenticator apps count
# What JSON's and fido2's parsers raise for what is no passkey: missing parts, parts of other types, endless nesting.
MALFORMED = (AttributeError, LookupError, RecursionError, TypeError, ValueError)


class MFAAdapter(DefaultMFAAdapter):  # type: ignore[misc]
    """allauth's adapter, changed: secrets are encrypted in the database, and passkeys have plain names."""

    def encrypt(self, text: str) -> str:
        return encryption.encrypt(text.encode()).decode("ascii")

    def decrypt(self, encrypted_text: str) -> str:
        return encryption.decrypt(encrypted_text.encode()).decode()

    def get_public_key_credential_rp_entity(self) -> dict[str, str]:
        """Return the relying party of passkeys: this host, under Kith's name."""
        return {**super().get_public_key_credential_rp_entity(), "name": "Kith"}

    def generate_authenticator_name(self, user: User, type: Authenticator.Type) -> str:
        """Return a new passkey's name, which its person may change."""
        count = Authenticator.objects.filter(user=user, type=type).count()
        return _("Passkey %(number)d") % {"number": count + 1}


class CodeForm(forms.Form):
    """A code that is accepted once: it is remembered as used for as long as the clock tolerance would accept it."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        code = cast(forms.CharField, self.fields["code"])
        code.validators.append(MaxLengthValidator(MAX_CODE_CHARACTERS))
        code.widget.attrs |= {"inputmode": "numeric", "maxlength": MAX_CODE_CHARACTERS, "autofocus": True}

    def clean_code(self) -> str:
        try:
            code = str(super().clean_code())  # type: ignore[misc]
        except encryption.DecryptionError as error:  # after a restore without `secrets`
            raise forms.ValidationError(
                _(
                    "Kith can no longer read your second step. Whoever runs this Kith can remove it; then sign in"
                    " and set it up again."
                )
            ) from error
        user_id = self.user.pk  # type: ignore[attr-defined]
        steps = 2 * settings.MFA_TOTP_TOLERANCE + 1
        digits = "".join(filter(str.isalnum, code))
        if not cache.add(f"code-used:{user_id}:{digits}", 1, steps * TOTP_PERIOD_SECONDS):
            raise get_mfa_adapter().validation_error("incorrect_code")
        return code

    def save(self) -> None:
        """Accept the code, and tell the person by mail if it was a recovery code."""
        super().save()  # type: ignore[misc]
        if self.authenticator.type == Authenticator.Type.RECOVERY_CODES:  # type: ignore[attr-defined]
            get_mfa_adapter().send_notification_mail("mfa/email/recovery_code_used", self.user)  # type: ignore[attr-defined]


class AuthenticateForm(CodeForm, AllauthAuthenticateForm):  # type: ignore[misc]
    """The second step after the password."""


class ReauthenticateForm(CodeForm, AllauthReauthenticateForm):  # type: ignore[misc]
    """A code instead of the password, to confirm a sensitive change."""


class PasskeyNameForm(forms.Form):
    """Mixin for a form that names a passkey."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        name = cast(forms.CharField, self.fields["name"])
        name.label = _("Its name")
        name.validators.append(MaxLengthValidator(MAX_KEY_NAME_CHARACTERS))
        name.widget.attrs |= {"maxlength": MAX_KEY_NAME_CHARACTERS, "autocomplete": "off"}


class CredentialField(forms.CharField):
    """A browser's response about a passkey: JSON that `parse` of fido2 accepts."""

    def __init__(self, parse: Callable[[Any], object]) -> None:
        super().__init__(widget=forms.HiddenInput)
        self._parse = parse

    def to_python(self, value: Any) -> Any:
        """Return the parsed JSON; raise ValidationError for what is none, of which allauth lets some errors through."""
        try:
            response = json.loads(super().to_python(value) or "null")
            self._parse(response)
        except MALFORMED as error:
            raise get_mfa_adapter().validation_error("incorrect_code") from error
        return response


class PasskeyForm(forms.Form):
    """Mixin for a form that takes an existing passkey."""

    credential = CredentialField(AuthenticationResponse.from_dict)


class AuthenticatePasskeyForm(PasskeyForm, AuthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey as the second step after the password."""


class LoginPasskeyForm(PasskeyForm, LoginWebAuthnForm):  # type: ignore[misc]
    """A passkey that signs in alone."""


class ReauthenticatePasskeyForm(PasskeyForm, ReauthenticateWebAuthnForm):  # type: ignore[misc]
    """A passkey instead of the password, to confirm a sensitive change."""


class AddPasskeyForm(PasskeyNameForm, AddWebAuthnForm):  # type: ignore[misc]
    """A new passkey. It is always passwordless: it signs in by the device's fingerprint, face or PIN alone."""

    credential = CredentialField(RegistrationResponse.from_dict)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["passwordless"].initial = True
        self.fields["passwordless"].widget = forms.CheckboxInput(attrs={"hidden": True})

    def clean(self) -> dict[str, Any]:
        """Refuse a passkey above MAX_KEYS."""
        if Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN).count() >= MAX_KEYS:
            raise forms.ValidationError(_("You have reached the limit for passkeys. Remove one first."))
        return cast(dict[str, Any], super().clean())


class EditPasskeyForm(PasskeyNameForm, EditWebAuthnForm):  # type: ignore[misc]
    """Renames a passkey."""
