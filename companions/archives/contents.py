"""Check the files in an archive by their kind before they are stored, as if each had been uploaded.

A picture is re-encoded like an uploaded one, unless Kith has encoded it before, so that moving costs no quality. Sound
and a card's assets are stored unchanged, once they could be read.
"""

import io
import json

from django.conf import settings
from django.utils.translation import gettext as _

from cards.assets import MAX_ASSETS_BYTES
from companions.archives.errors import RowError
from companions.transfer.card_import import ASSETS_LIST
from files.archives import Archive, ArchiveFileError
from files.errors import BusyError, FilesError
from files.models import StoredFile
from files.pictures import Drawn, picture
from providers.sound import SoundError, read_isolated

MAX_FILE_BYTES = MAX_ASSETS_BYTES + 1_000_000
TYPES = {  # the content type of each kind of file that is archived
    StoredFile.Kind.PICTURE: "image/webp",
    StoredFile.Kind.ATTACHMENT: "image/webp",
    StoredFile.Kind.RECORDING: "audio/mpeg",
    StoredFile.Kind.REFERENCE: "audio/wav",
    StoredFile.Kind.CARD: "application/zip",
}


def clean_content(kind: str, content_type: str, content: bytes) -> Drawn | None:
    """Return the picture to store, or None for other content, which is stored unchanged.

    Raise RowError if a file of this `kind` cannot have such content, BusyError if too many pictures are being drawn.
    """
    if TYPES.get(StoredFile.Kind(kind)) != content_type:
        raise RowError("content_type", _("is not one that such a file can have"))
    if content_type == "image/webp":
        try:
            return picture(content, keeps_drawings=True)
        except BusyError:
            raise
        except FilesError:
            raise RowError("file", _("is not the kind of file it claims to be")) from None
    if not (_holds_assets(content) if content_type == "application/zip" else _can_be_heard(content)):
        raise RowError("file", _("is not the kind of file it claims to be"))
    return None


def _can_be_heard(content: bytes) -> bool:
    try:
        read_isolated(content, max(settings.AUDIO_SECONDS, settings.REFERENCE_SECONDS) + 1)
    except SoundError:
        return False
    return True


def _holds_assets(content: bytes) -> bool:
    """Return whether the content is a ZIP of a card's assets, as `transfer.card_import` packs them."""
    try:
        packed = Archive(io.BytesIO(content))
        listed = json.loads(packed.read(ASSETS_LIST, 1_000_000))
        names = {ASSETS_LIST, *map(str, range(len(listed)))}
        texts = [asset[key] for asset in listed for key in ("type", "name", "ext", "uri")]
        is_listed = all(len(asset) == 4 for asset in listed) and all(isinstance(text, str) for text in texts)
        size = sum(info.file_size for info in packed.entries.values())
    except (ArchiveFileError, KeyError, RecursionError, TypeError, ValueError):
        return False
    return is_listed and names == packed.entries.keys() and size <= MAX_FILE_BYTES
