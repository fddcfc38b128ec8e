"""What may go wrong with what is said aloud and heard.

VoiceError(code, detail)
├── HearingError       a recording that cannot be heard, or is not in a state for that
└── SpeakingError      what cannot be read aloud just now
    └── NoEngineError  there is no engine: the browser speaks
"""

from collections.abc import Mapping
from types import MappingProxyType

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class VoiceError(Exception):
    """Carries a code for programs, a kind sentence for people, and the HTTP status that fits."""

    more: Mapping[str, object] = MappingProxyType({})  # what else a program is told

    def __init__(self, code: str, detail: str | Promise, status: int = 422) -> None:
        super().__init__(code)
        self.code = code
        self.detail = detail
        self.status = status


class HearingError(VoiceError):
    pass


class SpeakingError(VoiceError):
    pass


class NoEngineError(SpeakingError):
    """`more` is what a browser needs for speaking the sentence itself."""

    def __init__(self, told: Mapping[str, object]) -> None:
        detail = _("No speech engine is connected here: your browser can read it aloud.")
        super().__init__("browser_speaks", detail, status=409)
        self.more = told
