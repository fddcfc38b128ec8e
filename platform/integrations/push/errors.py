"""What can go wrong with notifications.

PushError(code, detail)   the browser's subscription cannot be kept: wrong address or keys, too many, or none at all here
"""


class PushError(Exception):
    """Carries a code for programs, a kind sentence for people, and the HTTP status that fits."""

    def __init__(self, code: str, detail: str, status: int = 422) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.status = status
