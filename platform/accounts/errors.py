"""What can go wrong with accounts.

AccountsError
├── AccountExistsError        someone has this e-mail address already
├── GateError                 too many messages a minute, or no tokens left today
├── InvitationError           the invitation is used or was never made
├── IdempotencyKeyError       the key itself cannot be used (400)
├── IdempotencyConflictError  the key came before, with another body (409)
└── SealError                 what was sealed cannot be opened with the keys there are
"""


class AccountsError(Exception):
    """The root of what this package raises."""


class AccountExistsError(AccountsError):
    """Someone has this e-mail address already."""


class GateError(AccountsError):
    """The person has to wait; `code` is for programs, `detail` a sentence for people."""

    def __init__(self, code: str, detail: str, retry_after_seconds: int) -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.retry_after_seconds = retry_after_seconds


class InvitationError(AccountsError):
    """The invitation is used, or there never was one."""


class IdempotencyKeyError(AccountsError):
    """The key is not 1 to 200 printable characters."""


class IdempotencyConflictError(AccountsError):
    """The key was used before, with another body."""


class SealError(AccountsError):
    """What was sealed was sealed with another key, or is damaged."""
