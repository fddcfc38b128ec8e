"""What an archive brings in its files: looked at by their kind before they are kept, as if somebody had sent each.

Unlike what is sent, they are kept as they are, so that nothing loses by moving; what would be drawn anew is checked to be
what Kith itself writes, and read in the sandbox.
"""

import io
import json
import struct

from django.conf import settings
from django.utils.translation import gettext as _

from cards.assets import MAX_ASSETS_BYTES
from companions.archives.errors import RowError
from companions.transfer.card_import import ASSETS_LIST
from files.archives import Archive, ArchiveFileError
from files.errors import BusyError, FilesError
from files.models import StoredFile
from files.pictures import picture
from providers.sound import SoundError, read_isolated

MAX_FILE_BYTES = MAX_ASSETS_BYTES + 1_000_000
TYPES = {  # what each kind of file that travels is
    StoredFile.Kind.PICTURE: "image/webp",
    StoredFile.Kind.ATTACHMENT: "image/webp",
    StoredFile.Kind.RECORDING: "audio/mpeg",
    StoredFile.Kind.REFERENCE: "audio/wav",
    StoredFile.Kind.CARD: "application/zip",
}
# Of a WebP what is seen; not what could be told beside it.
SEEN = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH"}


def check_content(kind: str, content_type: str, content: bytes) -> None:
    """Raise RowError where the content is none that a file of this kind can have; BusyError."""
    if TYPES.get(StoredFile.Kind(kind)) != content_type:
        raise RowError("content_type", _("is none that such a file can have"))
    if content_type == "image/webp":
        is_right = _is_plain_webp(content) and _can_be_drawn(content)
    elif content_type == "application/zip":
        is_right = _holds_assets(content)
    else:
        is_right = _can_be_heard(content)
    if not is_right:
        raise RowError("file", _("is not what it says it is"))


def _is_plain_webp(content: bytes) -> bool:
    """Return whether it is a WebP of nothing but a picture, to its last byte."""
    if len(content) < 20 or content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return False
    if struct.unpack_from("<I", content, 4)[0] + 8 != len(content):
        return False
    at = 12
    while at + 8 <= len(content):
        size = struct.unpack_from("<I", content, at + 4)[0]
        if content[at : at + 4] not in SEEN:
            return False
        at += 8 + size + size % 2
    return at == len(content)


def _can_be_drawn(content: bytes) -> bool:
    try:
        picture(content)
    except BusyError:
        raise
    except FilesError:
        return False
    return True


def _can_be_heard(content: bytes) -> bool:
    try:
        read_isolated(content, max(settings.AUDIO_SECONDS, settings.REFERENCE_SECONDS) + 1)
    except SoundError:
        return False
    return True


def _holds_assets(content: bytes) -> bool:
    """Return whether these are a card's files, as `transfer.card_import` packs them."""
    try:
        packed = Archive(io.BytesIO(content))
        listed = json.loads(packed.read(ASSETS_LIST, 1_000_000))
        names = {ASSETS_LIST, *map(str, range(len(listed)))}
        texts = [asset[key] for asset in listed for key in ("type", "name", "ext", "uri")]
        is_listed = all(len(asset) == 4 for asset in listed) and all(isinstance(text, str) for text in texts)
        size = sum(info.file_size for info in packed.entries.values())
    except (ArchiveFileError, KeyError, TypeError, ValueError):
        return False
    return is_listed and names == packed.entries.keys() and size <= MAX_FILE_BYTES
