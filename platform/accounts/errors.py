"""What every package's errors for people are, and what can go wrong with accounts.

RefusedError(code, detail)    the root of what is told to people, in whichever package
├── TokenExpiredError         the token was good until a moment that has passed (401)
├── GateError                 too much of it at once, or today: `retry_after_seconds` says when (429)
├── IdempotencyKeyError       the key itself cannot be used (400)
└── IdempotencyConflictError  the key came before, with another body (409)
AccountsError
├── AccountExistsError        someone has this e-mail address already
└── InvitationError           the invitation is used or was never made
"""

from collections.abc import Mapping
from types import MappingProxyType

from django.utils.functional import Promise


class RefusedError(Exception):
    """Not done: a code and `more` for programs, a kind sentence for people, and the HTTP status and headers that fit."""

    status = 422
    more: Mapping[str, object] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})

    def __init__(self, code: str, detail: str | Promise, status: int | None = None) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.status = status or self.status


class GateError(RefusedError):
    """The person has to wait."""

    status = 429

    def __init__(self, code: str, detail: str, retry_after_seconds: int) -> None:
        super().__init__(code, detail)
        self.retry_after_seconds = retry_after_seconds
        self.headers = {"Retry-After": str(retry_after_seconds)}


class TokenExpiredError(RefusedError):
    """The token was good until a moment that has passed."""

    status = 401
    headers = MappingProxyType({"WWW-Authenticate": "Bearer"})


class IdempotencyKeyError(RefusedError):
    """The key is not 1 to 200 printable characters."""

    status = 400


class IdempotencyConflictError(RefusedError):
    """The key was used before, with another body."""

    status = 409


class AccountsError(Exception):
    """The root of what this package raises."""


class AccountExistsError(AccountsError):
    """Someone has this e-mail address already."""


class InvitationError(AccountsError):
    """The invitation is used, or there never was one."""
