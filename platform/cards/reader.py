"""Character cards that people upload as JSON, PNG, APNG or CHARX: parsed in a process of their own.

The answer of that process is validated again here: a card that took the process over could make it answer anything.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from threading import BoundedSemaphore
from typing import IO, Any

from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from cards.assets import MAX_ASSETS_BYTES, MEDIA, PICTURE, Asset
from cards.child import MAX_BYTES
from cards.schema import LOREBOOK, normalise
from cards.values import MAX_JSON_BYTES, CardFormatError, as_text, parse_json
from files.errors import BusyError, ContentError, FilesError, TooLargeError
from jobs.sandbox import SandboxError, module_command, run_in_sandbox

TIMEOUT_SECONDS = 15.0  # for a free place, and again for the process (two seconds of CPU time)
COMMAND = module_command("cards.child")
READ_AT_ONCE = BoundedSemaphore(2)  # per process of Kith: each read may take 256 MB
FORMS = ("json", "png", "charx", "lorebook")
VERSION = re.compile(r"[123]")
REFUSALS: dict[str, str | Promise] = {
    "no_card": _(
        "There is no character card in this file. Send a card as PNG, JSON or CHARX, or a lorebook as JSON."
    ),
    "unreadable": _("This file cannot be read safely. Export the card again from the program it came from."),
    "broken_json": _("The card's JSON is broken. Export the card again from the program it came from."),
    "broken_png": _("This PNG is broken or incomplete. Download it again, as a file and not as a preview."),
    "broken_sum": _("The card in this PNG is damaged: its checksum is wrong. Download it again."),
    "broken_text": _("The card in this PNG is damaged and cannot be decoded. Download it again."),
    "broken_zip": _("This CHARX is broken or incomplete. Download it again, or export it again."),
    "too_deep": _(
        "The card's JSON is nested deeper than any card needs, so it is not read. Use another copy of it."
    ),
    "too_many_entries": _(
        "A lorebook can have at most 2,000 entries. Remove some of them, and send it again."
    ),
    "too_many_files": _(
        "A CHARX can have at most 1,500 files in it. Remove some of its assets, and send it again."
    ),
    "zip_bomb": _(
        "This CHARX unpacks to far more than it should, so it is not opened. Use another copy of it."
    ),
    "unsafe_path": _(
        "This CHARX has files with names that lead outside of it, so it is not opened. Export it again."
    ),
    "encrypted_zip": _("This CHARX is protected by a password. Save it without one, and send it again."),
    "encrypted_card": _(
        "This card is encrypted by RisuAI, and only RisuAI can open it. Export it there as a plain card."
    ),
    "other_archive": _(
        "This is a RAR or 7z archive under another name. Unpack it, and send the card that is in it."
    ),
}
TOO_LARGE = _(
    "A card can have at most 5 MB of text, and 50 MB in all unless it is a CHARX. Remove some of it, and send it again."
)
REMARKS: dict[str, str | Promise] = {
    "assets_not_fetched": _(
        "Some assets are on other websites. Kith does not fetch them; their addresses are kept."
    ),
    "assets_beyond": _(
        "Some assets were left out: each can have at most 10 MB, and all those kept from one card at most 40 MB. Icons"
        " are kept first."
    ),
    "assets_not_kept": _("Some assets are missing, or of a kind that Kith does not keep."),
    "files_not_kept": _("The file contains more than the card mentions. The rest is not kept."),
    "module_broken": _(
        "The RisuAI module in this file (module.risum) is broken. The card was read without it; you can export it"
        " again."
    ),
    "module_lore": _("Some entries of the lorebook came from the RisuAI module in this file (module.risum)."),
    "module_packed": _(
        "The file has a RisuAI module (module.risum), packed in a way that this Kith cannot read. Its scripts would not"
        " be run in any case. If entries of the lorebook are missing, export the card from RisuAI as PNG or JSON."
    ),
    "newer_version": _(
        "The card was made for a newer version of the format. What Kith does not know is kept, but not used."
    ),
    "other_lorebook": _(
        "This is a lorebook from RisuAI, Agnai or NovelAI. It was turned into the form that Kith uses."
    ),
    "other_chunk": _("One of the two copies of the card in this PNG is broken. The other one was read."),
    "programs_inert": _("The card contains scripts. They are kept in it, but never run."),
    "text_cleaned": _(
        "Some characters in the card’s texts cannot be stored. They were left out or replaced."
    ),
    "world_info": _("This is a World Info file from SillyTavern. It was turned into a lorebook."),
}


@dataclass(frozen=True)
class ReadCard:
    """A card in the normalised form of `schema.py`; `remarks` are keys of REMARKS."""

    form: str
    version: str
    card: dict[str, Any]
    picture: bytes | None
    assets: list[Asset]
    remarks: list[str]


def read_card(
    content: bytes | IO[bytes], *, command: Sequence[str] = COMMAND, wait_seconds: float = TIMEOUT_SECONDS
) -> ReadCard:
    """Return the card in a file whose form is recognised by its content. Blocks the calling thread.

    A CHARX given as an open file may be of any size that the caller admits. RisuAI's modules are decoded only if the
    operator has configured the table for them.

    Raise ContentError with a key of REFUSALS, TooLargeError `too_large`, or BusyError.
    """
    if isinstance(content, bytes) and len(content) > MAX_BYTES:
        raise refusal("too_large")
    if not READ_AT_ONCE.acquire(timeout=wait_seconds):
        raise BusyError("busy", _("Kith is reading other cards right now. Try again in a moment."))
    try:
        table = settings.RISUAI_TABLE
        head, body = run_in_sandbox([*command, *([table.hex()] if table else [])], content, wait_seconds)
    except SandboxError:
        raise refusal("unreadable") from None
    finally:
        READ_AT_ONCE.release()
    if "code" in head:
        raise refusal(head["code"])
    try:
        return _read_answer(head, body)
    except CardFormatError as error:
        raise refusal(error.code) from None
    except (KeyError, TypeError, ValueError):
        raise refusal("unreadable") from None


def refusal(code: object) -> FilesError:
    """Return the error that explains to a person why a file is refused."""
    if code == "too_large":
        return TooLargeError("too_large", TOO_LARGE)
    known = code if isinstance(code, str) and code in REFUSALS else "unreadable"
    return ContentError(known, REFUSALS[known])


def _read_answer(head: dict[str, Any], body: bytes) -> ReadCard:
    """Return the card in the sandbox's answer. Raise CardFormatError, KeyError, TypeError, ValueError if malformed."""
    form, version, size, picture_size = (head[key] for key in ("form", "version", "json", "picture"))
    if form not in FORMS or not VERSION.fullmatch(version):
        raise ValueError(form)
    answer = parse_json(body[: _size(size)], 2 * MAX_JSON_BYTES)
    card, remarks = normalise(answer["card"])
    if (card["spec"] == LOREBOOK) != (form == "lorebook"):
        raise ValueError(form)
    at = size
    picture = body[at : at + _size(picture_size)] or None
    at += picture_size
    assets: list[Asset] = []
    for listed in answer["assets"]:
        content = body[at : at + _size(listed["bytes"])]
        at += len(content)
        kind, name, ext, uri = (as_text(listed[key]) for key in ("type", "name", "ext", "uri"))
        assets.append(Asset(kind, name, ext, uri, content))
    is_whole = at == len(body) and sum(len(asset.content) for asset in assets) <= MAX_ASSETS_BYTES
    is_media = all(MEDIA.match(asset.content) for asset in assets) and (
        picture is None or PICTURE.match(picture)
    )
    if not is_whole or not is_media:
        raise ValueError("assets")
    known = {remark for remark in answer["remarks"] if remark in REMARKS}
    return ReadCard(form, version, card, picture, assets, sorted(known | set(remarks)))


def _size(value: object) -> int:
    if isinstance(value, int) and value >= 0:
        return value
    raise ValueError("size")
