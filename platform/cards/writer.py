"""Cards exported as files: JSON, PNG and CHARX, in V2 or V3."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from cards.assets import SCHEMES, Asset, embedded_path, find_extension
from cards.charx import CARD, is_safe_path, write_charx
from cards.png import MAGIC, write_png
from cards.versions import to_v2, to_v3

EMBEDDED = "embeded://"  # spelled with one d, as in the specification
MAIN_ICON = "assets/icon/images/main.png"
FOLDERS = {  # the specification's folders, with the extensions that belong there
    "images": {"png", "jpg", "jpeg", "webp", "gif", "avif"},
    "audio": {"mp3", "ogg", "wav", "flac", "m4a", "aac", "opus"},
    "video": {"mp4", "webm", "mov", "avi", "mkv"},
}


def write_card(
    card: dict[str, Any],
    *,
    spec: str,
    form: str,
    modified: datetime,
    picture_png: bytes | None = None,
    assets: Sequence[Asset] = (),
) -> bytes:
    """Return a normalised card as a file: `spec` "2" or "3", `form` "json", "png" or "charx" (which is always V3).

    Only a CHARX contains `assets`; JSON and PNG keep just those whose data or address is in the JSON itself. A PNG
    needs `picture_png`, which becomes its main icon, as it does in a CHARX whose card names no icon.
    Raise CardFormatError `broken_png`.
    """
    if form == "charx":
        return _write_charx(card, modified, picture_png, assets)
    card = _with_assets(card, _leave_out_embedded(card, is_png=form == "png"))
    v3 = to_v3(card, modified)
    if form == "png":
        if spec == "2":
            return write_png(picture_png or b"", {b"chara": dump(to_v2(card))})
        # V2 last: some programs read the last text chunk as V2, whatever it is.
        return write_png(
            picture_png or b"", {b"ccv3": dump(v3), b"chara": dump(to_v2(card, is_backfill=True))}
        )
    return dump(v3 if spec == "3" else to_v2(card))


def write_lorebook(book: dict[str, Any], modified: datetime) -> bytes:
    """Return a normalised lorebook, {"spec": "lorebook_v3", "data": …}, as a JSON file."""
    return dump(to_v3(book, modified))


def dump(value: dict[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _with_assets(card: dict[str, Any], assets: list[dict[str, Any]]) -> dict[str, Any]:
    return {**card, "data": {**card["data"], "assets": assets}}


def _leave_out_embedded(card: dict[str, Any], *, is_png: bool) -> list[dict[str, Any]]:
    """Return the card's assets without those embedded in its file, except that a PNG's main icon is the PNG itself."""
    left = []
    for entry in card["data"]["assets"]:
        if not entry["uri"].startswith(SCHEMES):
            left.append(entry)
        elif is_png and (entry["type"], entry["name"]) == ("icon", "main"):
            left.append({**entry, "uri": "ccdefault:", "ext": "png"})
    return left


def _write_charx(
    card: dict[str, Any], modified: datetime, picture_png: bytes | None, assets: Sequence[Asset]
) -> bytes:
    contents = {asset.uri: asset for asset in assets}
    files: dict[str, bytes] = {}
    listed = []
    if picture_png and picture_png.startswith(MAGIC):
        files[MAIN_ICON] = picture_png
    for number, entry in enumerate(card["data"]["assets"]):
        uri, asset = entry["uri"], contents.get(entry["uri"])
        if uri == "ccdefault:" and entry["type"] == "icon" and MAIN_ICON in files:
            listed.append({**entry, "uri": EMBEDDED + MAIN_ICON, "ext": "png"})
        elif uri.startswith(SCHEMES):
            if asset:
                path = _choose_path(asset, number, files)
                files[path] = asset.content
                listed.append(entry if uri == EMBEDDED + path else {**entry, "uri": EMBEDDED + path})
        else:
            listed.append(entry)
    if MAIN_ICON in files and not any(entry["type"] == "icon" for entry in listed):
        listed.append({"type": "icon", "uri": EMBEDDED + MAIN_ICON, "name": "main", "ext": "png"})
    if not any(entry["uri"] == EMBEDDED + MAIN_ICON for entry in listed):
        files.pop(MAIN_ICON, None)
    return write_charx(dump(to_v3(_with_assets(card, listed), modified)), sorted(files.items()))


def _choose_path(asset: Asset, number: int, files: dict[str, bytes]) -> str:
    """Return the asset's path in the ZIP: its former one if safe and free, otherwise the specification's."""
    path = embedded_path(asset.uri) or ""
    if is_safe_path(path) and path != CARD and files.get(path, asset.content) == asset.content:
        return path
    ext = find_extension({"ext": asset.ext})
    folder = next((name for name, endings in FOLDERS.items() if ext in endings), "other")
    kind = asset.type if asset.type in {"icon", "background", "emotion", "user_icon"} else "other"
    return f"assets/{kind}/{folder}/{number}.{ext}"
