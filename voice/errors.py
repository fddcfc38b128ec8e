"""What may go wrong with what is said aloud and heard.

VoiceError(code, detail)
├── HearingError       a recording that cannot be heard, or is not in a state for that
└── SpeakingError      what cannot be read aloud just now
    └── NoEngineError  there is no engine: the browser speaks
"""

from collections.abc import Mapping

from django.utils.translation import gettext_lazy as _

from accounts.errors import RefusedError


class VoiceError(RefusedError):
    pass


class HearingError(VoiceError):
    pass


class SpeakingError(VoiceError):
    pass


class NoEngineError(SpeakingError):
    """`more` is what a browser needs for speaking the sentence itself."""

    def __init__(self, more: Mapping[str, object]) -> None:
        detail = _("No speech engine is connected here: your browser can read it aloud.")
        super().__init__("browser_speaks", detail, status=409)
        self.more = more
