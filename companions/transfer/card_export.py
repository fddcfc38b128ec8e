"""Export of a companion as a card: JSON, a PNG picture that holds the card, or CHARX with the card's further files."""

import io
import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from zipfile import ZipFile

from django.http import HttpResponse
from django.utils.text import slugify
from django.utils.translation import gettext as _

from cards.assets import Asset, replace_icon
from cards.schema import CARD, normalise
from cards.values import CardFormatError
from cards.writer import write_card
from companions.face.drawing import render_portrait
from companions.face.expressions import express
from companions.face.portraits import find_picture, get_features
from companions.lore.rules.entries import DEFAULT_SCAN_DEPTH
from companions.models import Card, Companion, Lorebook
from companions.transfer.card_import import ASSETS_LIST, FIELDS, CardError
from files.contents import read_content
from files.responses import attach
from memory.emotion import Emotion

TYPES = {"json": "application/json", "png": "image/png", "charx": "application/zip"}
SPECS = {"v2": "2", "v3": "3"}
FACE_SIDE = 512  # pixels of a drawn face


def card_response(companion: Companion, now: datetime, *, spec: str, form: str) -> HttpResponse:
    """Return the companion's card as a file to download.

    Raise CardError for an unknown `form` or `spec` and for CHARX in version 2 (`no_such_form`), and if the card is too
    large; FilesError if a stored file is missing.
    """
    if spec not in SPECS or form not in TYPES or (spec, form) == ("v2", "charx"):
        raise CardError(
            "no_such_form", _("A card can be JSON or PNG in version 2 or 3, or CHARX in version 3.")
        )
    card, assets = compose_card(companion), load_assets(companion)
    if _has_new_picture(companion):
        card = replace_icon(card, assets)
    content = write_card(
        card,
        spec=SPECS[spec],
        form=form,
        modified=now,
        picture_png=None if form == "json" else draw_png(companion),
        assets=assets if form == "charx" else [],
    )
    name = slugify(companion.name, allow_unicode=True) or str(companion.pk)
    return attach(content, TYPES[form], f"{name}.{form}")


def compose_card(companion: Companion) -> dict[str, Any]:
    """Return the companion's character as a V3 card. Fields of its original card that Kith does not use are kept.

    Raise CardError if it is too large for a card.
    """
    card = Card.objects.filter(companion=companion).first()
    content = card.content if card else {}
    data: dict[str, Any] = {"creation_date": int(companion.created_at.timestamp()), **content.get("data", {})}
    data |= {"name": companion.name, **{key: getattr(companion, field) for field, key in FIELDS.items()}}
    data["extensions"] = _compose_extensions(companion, data.get("extensions") or {})
    if books := list(companion.lorebooks.prefetch_related("entries")):
        data["character_book"] = _merge_books(books)
    try:
        return normalise({**content, "spec": CARD, "spec_version": "3.0", "data": data})[0]
    except CardFormatError:
        raise CardError(
            "card_too_large",
            _("Its texts and lorebooks are too much for one card. Save the lorebooks separately."),
        ) from None


def _compose_extensions(companion: Companion, extensions: dict[str, Any]) -> dict[str, Any]:
    """Return the card's extensions with the companion's depth prompt; if it has none, without that of the card."""
    before = extensions.get("depth_prompt")
    before = before if isinstance(before, dict) else {}
    if companion.depth_prompt:
        note = {
            "prompt": companion.depth_prompt,
            "depth": companion.depth_prompt_depth,
            "role": companion.depth_prompt_role,
        }
        return {**extensions, "depth_prompt": {**before, **note}}
    if before.get("prompt"):  # its user has removed the card's note
        return {key: value for key, value in extensions.items() if key != "depth_prompt"}
    return extensions


def _merge_books(books: Sequence[Lorebook]) -> dict[str, Any]:
    """Return the lorebooks as one, since a card has only one. It has the settings of the first enabled book.

    Entries of a disabled book become disabled. Those of books with other settings get these as rules of their own, and
    the budget is that of all enabled books together.
    """
    used = [book for book in books if book.is_enabled] or books
    merged, budgets = used[0].as_card(), [book.token_budget for book in used]
    depth = _get_scan_depth(used[0])
    if len(used) > 1:
        merged["token_budget"] = None if None in budgets else sum(filter(None, budgets))
    if used[0].is_recursive is False and any(book.is_recursive is not False for book in used):
        merged["recursive_scanning"] = True
    merged["entries"] = []
    for book in books:
        for entry in book.entries.all():
            rules = {**(entry.data.get("extensions") or {})}
            if _get_scan_depth(book) != depth and rules.get("scan_depth") is None:
                rules["scan_depth"] = _get_scan_depth(book)
            if book.is_recursive is False and merged["recursive_scanning"] is not False:
                rules |= {"exclude_recursion": True, "prevent_recursion": True}
            switched = {} if book.is_enabled else {"enabled": False}
            merged["entries"].append({**entry.data, "extensions": rules, **switched})
    return merged


def _get_scan_depth(book: Lorebook) -> int:
    return DEFAULT_SCAN_DEPTH if book.scan_depth is None else book.scan_depth


def _has_new_picture(companion: Companion) -> bool:
    """Return whether the companion got its picture after its card, which may contain another one."""
    shown = find_picture(companion, Emotion.NEUTRAL)
    if shown is None:
        return False
    return Card.objects.filter(companion=companion, created_at__lt=shown.file.created_at).exists()


def draw_png(companion: Companion) -> bytes:
    """Return the companion's neutral picture, or its drawn portrait, as PNG. FilesError if the picture is missing."""
    if shown := find_picture(companion, Emotion.NEUTRAL):
        from PIL import Image  # heavy and rarely needed

        written = io.BytesIO()
        with Image.open(io.BytesIO(read_content(shown.file)), formats=["WEBP"]) as opened:
            opened.save(written, "PNG", optimize=True)
        return written.getvalue()
    from resvg_py import svg_to_bytes  # heavy and rarely needed

    drawing = render_portrait(get_features(companion), express(Emotion.NEUTRAL, 0.0), companion.tint)
    return bytes(
        svg_to_bytes(svg_string=str(drawing), width=FACE_SIDE, height=FACE_SIDE, skip_system_fonts=True)
    )


def load_assets(companion: Companion) -> list[Asset]:
    """Return the files that came with the companion's card; none if there were none, or no card."""
    card = Card.objects.filter(companion=companion).select_related("assets").first()
    if card is None or card.assets is None:
        return []
    with ZipFile(io.BytesIO(read_content(card.assets))) as archive:
        listed = json.loads(archive.read(ASSETS_LIST))
        return [Asset(**fields, content=archive.read(str(number))) for number, fields in enumerate(listed)]
