"""The root of the errors that every package shows to people, and the errors of accounts.

RefusedError(code, detail)    the root of all errors that are shown to people, in any package
├── TokenError                the token has expired, or its account is closed (401)
├── GateError                 a limit is reached: try again after `retry_after_seconds` (429)
├── MailError                 the mail server is not answering: try again later (503)
│   └── AddressRefusedError   the mail server does not accept the address (422)
├── IdempotencyKeyError       the key is malformed (400)
└── IdempotencyConflictError  the key was used before, with another body (409)
AccountsError
├── AccountExistsError        another account has this e-mail address
└── InvitationError           the invitation is used already, or does not exist
"""

from collections.abc import Mapping
from types import MappingProxyType

from django.utils.functional import Promise


class RefusedError(Exception):
    """A refusal, with HTTP status and headers. `code` and `more` are for programs, `detail` is a text for people."""

    status = 422
    more: Mapping[str, object] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, code: str, detail: str | Promise, status: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.status = status or self.status


class GateError(RefusedError):
    """The person has reached a limit, and has to wait `retry_after_seconds`."""

    status = 429

    def __init__(self, code: str, detail: str, retry_after_seconds: int) -> None:
        super().__init__(code, detail)
        self.retry_after_seconds = retry_after_seconds
        self.headers = {"Retry-After": str(retry_after_seconds)}


class TokenError(RefusedError):
    """The API token has expired, or its account is closed."""

    status = 401
    headers = MappingProxyType({"WWW-Authenticate": "Bearer"})


class MailError(RefusedError):
    """The mail server is not answering, or refuses a mail."""

    status = 503
    headers = MappingProxyType({"Retry-After": "60"})


class AddressRefusedError(MailError):
    """The mail server will never deliver to this address."""

    status = 422
    headers = MappingProxyType[str, str]({})


class IdempotencyKeyError(RefusedError):
    """The Idempotency-Key is not 1 to 200 printable characters."""

    status = 400


class IdempotencyConflictError(RefusedError):
    """The Idempotency-Key was used before, with another body."""

    status = 409


class AccountsError(Exception):
    """The root of this package's own errors."""


class AccountExistsError(AccountsError):
    """Another account has this e-mail address already."""


class InvitationError(AccountsError):
    """The invitation is used already, or does not exist."""
