"""What happens when somebody signs in or chooses a password."""

from typing import Any

from allauth.account.signals import password_changed, password_reset
from django.contrib.auth.signals import user_logged_in
from django.utils import timezone

from accounts.models import User
from safety import access


def connect() -> None:
    """Begin to listen."""
    user_logged_in.connect(_signed_in, dispatch_uid="safety.signed_in")
    password_changed.connect(_changed, dispatch_uid="safety.password_changed")
    password_reset.connect(_reset, dispatch_uid="safety.password_reset")


def _signed_in(user: User, **_more: Any) -> None:
    access.record_sign_in(user, timezone.now())


def _changed(user: User, **_more: Any) -> None:
    access.end_operator_access(user, timezone.now(), by_mail=False)


def _reset(user: User, **_more: Any) -> None:
    access.end_operator_access(user, timezone.now(), by_mail=True)
