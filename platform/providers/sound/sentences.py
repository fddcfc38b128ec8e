"""What a person is told whose sound cannot be used."""

from collections.abc import Mapping
from types import MappingProxyType

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

SENTENCES: Mapping[str, Promise] = MappingProxyType(
    {
        "empty": _("The recording is empty."),
        "no_sound": _("This is no recording that can be read. Try another format, such as MP3 or WAV."),
        "too_long": _("The recording is too long."),
    }
)
