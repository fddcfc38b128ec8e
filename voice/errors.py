"""What may go wrong with what is said aloud and heard.

VoiceError(code, detail)
└── HearingError    a recording that cannot be heard, or is not in a state for that
"""

from django.utils.functional import Promise


class VoiceError(Exception):
    """Carries a code for programs, a kind sentence for people, and the HTTP status that fits."""

    def __init__(self, code: str, detail: str | Promise, status: int = 422) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.status = status


class HearingError(VoiceError):
    pass
