"""The second step of signing in, by allauth: codes of an authenticator app, passkeys, and recovery codes."""

from typing import Any, cast

from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.adapter import get_adapter as get_mfa_adapter
from allauth.mfa.base.forms import AuthenticateForm as AllauthAuthenticateForm
from allauth.mfa.base.forms import ReauthenticateForm as AllauthReauthenticateForm
from allauth.mfa.models import Authenticator
from allauth.mfa.webauthn.forms import AddWebAuthnForm, EditWebAuthnForm
from django import forms
from django.conf import settings
from django.core.cache import cache
from django.core.validators import MaxLengthValidator
from django.utils.translation import gettext as _

from accounts.models import User
from database import encryption

MAX_CODE_CHARACTERS = 32
MAX_KEY_NAME_CHARACTERS = 60
MAX_KEYS = 20
TOTP_PERIOD_SECONDS = 30  # as authenticator apps count


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
        code = str(super().clean_code())  # type: ignore[misc]
        user_id = self.user.pk  # type: ignore[attr-defined]
        steps = 2 * settings.MFA_TOTP_TOLERANCE + 1
        digits = "".join(filter(str.isalnum, code))
        if not cache.add(f"code-used:{user_id}:{digits}", 1, steps * TOTP_PERIOD_SECONDS):
            raise get_mfa_adapter().validation_error("incorrect_code")
        return code


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


class AddPasskeyForm(PasskeyNameForm, AddWebAuthnForm):  # type: ignore[misc]
    """A new passkey. It is always passwordless: it signs in by the device's fingerprint, face or PIN alone."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["passwordless"].initial = True
        self.fields["passwordless"].widget = forms.CheckboxInput(attrs={"hidden": True})

    def clean(self) -> dict[str, Any]:
        """Refuse a passkey above MAX_KEYS, and a malformed credential, for which allauth lets a ValueError through."""
        if Authenticator.objects.filter(user=self.user, type=Authenticator.Type.WEBAUTHN).count() >= MAX_KEYS:
            raise forms.ValidationError(_("You have reached the limit for passkeys. Remove one first."))
        try:
            return cast(dict[str, Any], super().clean())
        except ValueError as error:
            raise get_mfa_adapter().validation_error("incorrect_code") from error


class EditPasskeyForm(PasskeyNameForm, EditWebAuthnForm):  # type: ignore[misc]
    """Renames a passkey."""
