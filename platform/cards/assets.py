"""A card's assets: pictures, sounds and videos embedded in the file or in the JSON. Nothing is ever fetched."""

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from cards.schema import DEFAULT_ASSET, Known
from cards.values import CardFormatError, decode_base64

MAX_ASSET_BYTES = 10_000_000
MAX_ASSETS_BYTES = 40_000_000
MAX_ASSETS = 1_000
SCHEMES = ("embeded://", "embedded://", "__asset:")
# The accepted formats, recognised by their first bytes alone. HTML and SVG are not accepted: they can contain scripts.
PICTURE = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP|.{4}ftypavi[fs]", re.DOTALL)
MEDIA = re.compile(
    PICTURE.pattern
    + rb"|OggS|fLaC|ID3|\xff[\xfb\xf3\xf2\xfa\xf1\xf9]|RIFF.{4}(?:WAVE|AVI )|.{4}ftyp|\x1a\x45\xdf\xa3",
    re.DOTALL,
)
DATA = re.compile(r"data:[^,;]{0,100}(?:;[^,;]{0,100})*?;base64,", re.IGNORECASE)
EXTENSION = re.compile(r"[a-z0-9]{1,10}")


class Asset(NamedTuple):
    """An asset with its content; `uri` is the one that the card gives."""

    type: str
    name: str
    ext: str
    uri: str
    content: bytes


class FileCard(NamedTuple):
    """A card with its assets; `picture` is the character's face, if any, of a PNG without the chunks of cards."""

    known: Known
    picture: bytes | None
    assets: list[Asset]


# Takes a path and the maximal bytes, returns the content or None; raises CardFormatError `too_large` if there are more.
Find = Callable[[str, int], bytes | None]


def resolve(card: dict[str, Any], find: Find) -> tuple[list[Asset], set[str]]:
    """Return the assets whose content is in the file, where `find` looks up paths, and remarks on what is left out.

    Icons are resolved first, so that the face is kept even if the assets exceed the limits.
    """
    found: dict[int, Asset] = {}
    remarks: set[str] = set()
    left, tries = MAX_ASSETS_BYTES, 0
    listed = list(enumerate(card["data"].get("assets", [])))
    for number, entry in sorted(listed, key=lambda each: each[1]["type"] != "icon"):
        uri = entry["uri"]
        if uri.startswith("ccdefault:") or not uri:
            continue
        if re.match(r"https?:", uri, re.IGNORECASE):
            remarks.add("assets_not_fetched")
            continue
        tries += 1
        if tries > MAX_ASSETS:
            remarks.add("assets_beyond")
            break
        max_bytes = min(MAX_ASSET_BYTES, left)
        try:
            content = _content(uri, find, max_bytes)
        except CardFormatError as error:
            if error.code != "too_large":
                raise
            remarks.add("assets_beyond")
            continue
        if content is None or not MEDIA.match(content):
            remarks.add("assets_not_kept")
            continue
        left -= len(content)
        found[number] = Asset(entry["type"], entry["name"], find_extension(entry), uri, content)
    return [asset for _number, asset in sorted(found.items())], remarks


def _content(uri: str, find: Find, max_bytes: int) -> bytes | None:
    """Return the content, or None if it is missing or malformed. Raise CardFormatError `too_large`, or like `find`."""
    content: bytes | None
    if head := DATA.match(uri):
        try:
            content = decode_base64(uri[head.end() :].encode("ascii", "replace"))
        except CardFormatError:
            return None
    else:
        path = embedded_path(uri)
        content = None if path is None else find(path, max_bytes)
    if content and len(content) > max_bytes:
        raise CardFormatError("too_large")
    return content


def list_paths(card: dict[str, Any]) -> set[str]:
    """Return the paths within its file at which the card says that its assets are."""
    paths = (embedded_path(entry["uri"]) for entry in card["data"].get("assets", []))
    return {path for path in paths if path is not None}


def embedded_path(uri: str) -> str | None:
    """Return the asset's path within the file, or None if `uri` points elsewhere."""
    return next((uri.removeprefix(scheme) for scheme in SCHEMES if uri.startswith(scheme)), None)


def find_extension(entry: Mapping[str, Any]) -> str:
    ext = str(entry["ext"]).lower().removeprefix(".")
    return ext if EXTENSION.fullmatch(ext) else "unknown"


def choose_icon(assets: list[Asset]) -> Asset | None:
    """Return the character's face: of the icons that are pictures, the one named "main", else the first, or None."""
    icons = [asset for asset in assets if asset.type == "icon" and PICTURE.match(asset.content)]
    return next((icon for icon in icons if icon.name == "main"), icons[0] if icons else None)


def replace_icon(card: dict[str, Any], assets: list[Asset]) -> dict[str, Any]:
    """Return the card with the picture of its file as its main icon, instead of the face among its `assets`."""
    face = choose_icon(assets)
    others = [
        entry
        for entry in card["data"]["assets"]
        if entry["type"] != "icon" or (entry["name"] != "main" and not (face and entry["uri"] == face.uri))
    ]
    return {**card, "data": {**card["data"], "assets": [DEFAULT_ASSET.copy(), *others]}}
