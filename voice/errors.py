"""Errors of speech and of recordings.

VoiceError(code, detail)
├── HearingError       a recording cannot be transcribed, or its state does not allow that
└── SpeakingError      a text cannot be read aloud now, or a voice cannot be imitated
    └── NoEngineError  no engine is connected: the browser has to speak
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
    """No engine is connected; `more` is what a browser needs to speak the sentence itself."""

    def __init__(self, more: Mapping[str, object]) -> None:
        detail = _(
            "No speech engine is connected here, so your browser reads aloud. If it has no voice, the operator"
            " can connect an engine."
        )
        super().__init__("browser_speaks", detail, status=409)
        self.more = more
