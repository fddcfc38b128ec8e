"""Character cards normalised to V3 with every key, from V1, V2, V3 and the variants that programs write in practice.

Neither this module nor what it imports may import Django: it runs in the sandbox.
"""

from typing import Any, NamedTuple

from cards.lorebooks import find_foreign_book, normalise_book
from cards.values import CardFormatError, as_mapping, as_number, as_text, as_texts, clean, parse_json

CARD, LOREBOOK = "chara_card_v3", "lorebook_v3"
TEXTS = (
    "name",
    "description",
    "personality",
    "scenario",
    "first_mes",
    "mes_example",
    "creator_notes",
    "system_prompt",
    "post_history_instructions",
    "creator",
    "character_version",
    "nickname",
)
GREETINGS = ("alternate_greetings", "group_only_greetings")
DATES = ("creation_date", "modification_date")
KNOWN = {
    *TEXTS,
    *GREETINGS,
    *DATES,
    "tags",
    "source",
    "assets",
    "character_book",
    "creator_notes_multilingual",
    "extensions",
}
DIALECT = {
    "char_name": "name",
    "char_persona": "description",
    "world_scenario": "scenario",
    "char_greeting": "first_mes",
    "example_dialogue": "mes_example",
    "creatorcomment": "creator_notes",
}
# Keys that show that a JSON object is a character and not a lorebook.
CHARACTER_KEYS = {"personality", "scenario", "first_mes", "mes_example", "alternate_greetings"}
DEFAULT_ASSET = {"type": "icon", "uri": "ccdefault:", "name": "main", "ext": "png"}
# Extensions that contain scripts: they are kept, and never run.
PROGRAMS = {"regex_scripts", "TavernHelper_scripts", "tavern_helper"}
RISUAI_PROGRAMS = {"triggerscript", "customScripts", "customScript", "virtualscript", "backgroundHTML"}


class Known(NamedTuple):
    """A normalised card or lorebook; `version` is that of the file, `remarks` are codes."""

    card: dict[str, Any]
    version: str
    remarks: list[str]


def read_json(content: bytes) -> Known:
    """Return the card or lorebook in the JSON. Raise CardFormatError if it is neither."""
    raw = parse_json(content)
    card, remarks = normalise(raw)
    return Known(card, find_version(raw), remarks)


def find_version(raw: object) -> str:
    """Return the version of the specification that the card was written for: "1", "2" or "3"."""
    root = as_mapping(raw)
    spec = as_text(root.get("spec"))
    if spec.startswith("chara_card_v"):
        return {"chara_card_v1": "1", "chara_card_v2": "2"}.get(spec, "3")
    if spec == LOREBOOK or "entries" in root or find_foreign_book(root):
        return "3"
    return "2" if isinstance(root.get("data"), dict) else "1"


def normalise(raw: object) -> tuple[dict[str, Any], list[str]]:
    """Return the card in V3 with every key, and the codes of remarks for the person; unknown keys are kept unchanged.

    Missing optional keys become None or empty. A lorebook alone becomes {"spec": "lorebook_v3", "data": …}.
    Raise CardFormatError `no_card`, `too_large`, `too_deep`, `too_many_entries` or `broken_json`.
    """
    root, is_cleaned = clean(raw)
    if not isinstance(root, dict):
        raise CardFormatError("no_card")
    remarks = {"text_cleaned"} if is_cleaned else set()
    if find_foreign_book(root):
        return {"spec": LOREBOOK, "data": normalise_book(root)}, sorted(remarks | {"other_lorebook"})
    book = _find_book(root)
    if book is not None:
        if root.get("spec") != LOREBOOK and isinstance(root.get("entries"), dict):
            remarks.add("world_info")
        beside = {} if root is book else root
        return {**beside, "spec": LOREBOOK, "data": normalise_book(book)}, sorted(remarks)
    data, beside = _split_fields(root)
    version = as_number(root.get("spec_version"), 0) or 0
    if version > 3 or as_text(root.get("spec")) not in {"", CARD, "chara_card_v2", "chara_card_v1"}:
        remarks.add("newer_version")
    card = {**beside, "spec": CARD, "spec_version": "3.0", "data": _normalise_data(data)}
    if _has_programs(card["data"]["extensions"]):
        remarks.add("programs_inert")
    return card, sorted(remarks)


def _find_book(root: dict[str, Any]) -> dict[str, Any] | None:
    """Return the lorebook if the JSON is one as a whole, otherwise None. Raise CardFormatError `no_card`."""
    data = root.get("data")
    if root.get("spec") == LOREBOOK:
        if not isinstance(data, dict):
            raise CardFormatError("no_card")
        return data
    is_character = (
        root.get("spec") or data is not None or CHARACTER_KEYS & root.keys() or DIALECT.keys() & root.keys()
    )
    return root if isinstance(root.get("entries"), dict | list) and not is_character else None


def _split_fields(root: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the character's fields, and the card's remaining top-level keys. Raise CardFormatError `no_card`."""
    inner = root.get("data")
    if isinstance(inner, dict):
        repeated = {key: value for key, value in root.items() if key in KNOWN}
        beside = {key: value for key, value in root.items() if key not in KNOWN}
        data = {**inner, **{key: value for key, value in repeated.items() if inner.get(key) is None}}
    else:
        repeated = {DIALECT.get(key, key): value for key, value in root.items() if key in DIALECT}
        data = {**repeated, **{key: value for key, value in root.items() if key in KNOWN}}
        beside = {key: value for key, value in root.items() if key not in KNOWN | DIALECT.keys()}
    has_spec = as_text(root.get("spec")).startswith("chara_card_")
    is_card = (
        data.keys() & KNOWN if has_spec else "name" in data and data.keys() & {*CHARACTER_KEYS, "description"}
    )
    if not is_card:
        raise CardFormatError("no_card")
    return data, beside


def _normalise_data(data: dict[str, Any]) -> dict[str, Any]:
    book, assets, notes = (
        data.get(key) for key in ("character_book", "assets", "creator_notes_multilingual")
    )
    return {
        **data,
        **{key: as_text(data.get(key)) for key in TEXTS},
        **{key: as_texts(data.get(key)) for key in GREETINGS},
        **{key: as_number(data.get(key), 0) for key in DATES},
        "tags": as_texts(data.get("tags"), ","),
        "source": as_texts(data.get("source")),
        "assets": _normalise_assets(assets) if isinstance(assets, list) else [DEFAULT_ASSET.copy()],
        "character_book": normalise_book(book) if isinstance(book, dict) else None,
        "creator_notes_multilingual": {key: as_text(value) for key, value in as_mapping(notes).items()},
        "extensions": as_mapping(data.get("extensions")),
    }


def _normalise_assets(assets: list[Any]) -> list[dict[str, Any]]:
    return [
        {**asset, **{key: as_text(asset.get(key)) for key in DEFAULT_ASSET}}
        for asset in assets
        if isinstance(asset, dict)
    ]


def _has_programs(extensions: dict[str, Any]) -> bool:
    risuai = as_mapping(extensions.get("risuai"))
    found = [extensions.get(key) for key in PROGRAMS] + [risuai.get(key) for key in RISUAI_PROGRAMS]
    return any(found)
