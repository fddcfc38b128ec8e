"""What may go wrong with sound."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from django.utils.functional import Promise

CODES = ("empty", "no_sound", "too_long")


class SoundError(Exception):
    """`code` is `empty`, `no_sound` or `too_long`; `sentence` is for the person whose sound it is.

    `said` is for a log: what the decoder said, never what was in the sound.
    """

    def __init__(self, code: str, said: str = "") -> None:
        self.code, self.said = code, said
        super().__init__(f"{code}: {said}" if said else code)

    @property
    def sentence(self) -> "Promise":
        # Not at the top: the reading process (child.py) would load Django with it, which takes as long as all the rest.
        from providers.sound.sentences import SENTENCES

        return SENTENCES[self.code]
