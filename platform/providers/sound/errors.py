"""What may go wrong with sound."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

SENTENCES: dict[str, Promise] = {
    "empty": _("The recording is empty."),
    "no_sound": _("This is no recording that can be read. Try another format, such as MP3 or WAV."),
    "too_long": _("The recording is too long."),
}


class SoundError(Exception):
    """`code` is `empty`, `no_sound` or `too_long`; `sentence` is for the person whose sound it is.

    `said` is for a log: what the decoder said, never what was in the sound.
    """

    def __init__(self, code: str, said: str = "") -> None:
        self.code, self.sentence, self.said = code, SENTENCES[code], said
        super().__init__(f"{code}: {said}" if said else code)
