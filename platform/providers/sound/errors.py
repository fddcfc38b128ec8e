"""What may go wrong with sound."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.utils.functional import Promise

_ = str  # marks what is to be translated, without loading Django into the process that reads a stranger's file
SENTENCES: Mapping[str, str] = MappingProxyType(
    {
        "empty": _("The recording is empty."),
        "no_sound": _("This is no recording that can be read. Try another format, such as MP3 or WAV."),
        "too_long": _("The recording is too long."),
    }
)


class SoundError(Exception):
    """`code` is `empty`, `no_sound` or `too_long`; `sentence` is for the person whose sound it is.

    `said` is for a log: what the decoder said, never what was in the sound.
    """

    def __init__(self, code: str, said: str = "") -> None:
        self.code, self.said = code, said
        super().__init__(f"{code}: {said}" if said else code)

    @property
    def sentence(self) -> "Promise":
        from django.utils.translation import gettext_lazy  # takes as long to load as all the rest

        return gettext_lazy(SENTENCES[self.code])
