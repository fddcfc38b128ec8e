"""Lorebooks normalised to the V3 form from V2, V3, SillyTavern's world info, or files of RisuAI, Agnai or NovelAI."""

from typing import Any

from cards.values import CardFormatError, as_flag, as_mapping, as_number, as_text, as_texts

MAX_ENTRIES = 2_000
# The names of fields in SillyTavern's world info, and in the `extensions` of the entries that it embeds in a card.
WORLD_INFO_EXTENSIONS = {
    "position": "position",
    "excludeRecursion": "exclude_recursion",
    "preventRecursion": "prevent_recursion",
    "delayUntilRecursion": "delay_until_recursion",
    "displayIndex": "display_index",
    "probability": "probability",
    "useProbability": "useProbability",
    "depth": "depth",
    "role": "role",
    "selectiveLogic": "selectiveLogic",
    "outletName": "outlet_name",
    "group": "group",
    "groupOverride": "group_override",
    "groupWeight": "group_weight",
    "useGroupScoring": "use_group_scoring",
    "scanDepth": "scan_depth",
    "matchWholeWords": "match_whole_words",
    "caseSensitive": "case_sensitive",
    "automationId": "automation_id",
    "vectorized": "vectorized",
    "sticky": "sticky",
    "cooldown": "cooldown",
    "delay": "delay",
    "matchPersonaDescription": "match_persona_description",
    "matchCharacterDescription": "match_character_description",
    "matchCharacterPersonality": "match_character_personality",
    "matchCharacterDepthPrompt": "match_character_depth_prompt",
    "matchScenario": "match_scenario",
    "matchCreatorNotes": "match_creator_notes",
    "triggers": "triggers",
    "ignoreBudget": "ignore_budget",
}
WORLD_INFO_FIELDS = {"uid": "id", "key": "keys", "keysecondary": "secondary_keys", "order": "insertion_order"}
# The keys that only RisuAI's entries have, and the card's names for the fields of Agnai's and NovelAI's.
RISUAI_KEYS = {"secondkey", "insertorder", "alwaysActive"}
AGNAI_BOOK = {
    "scanDepth": "scan_depth",
    "tokenBudget": "token_budget",
    "recursiveScanning": "recursive_scanning",
}
AGNAI_FIELDS = {
    "keywords": "keys",
    "secondaryKeys": "secondary_keys",
    "entry": "content",
    "weight": "insertion_order",
}
NOVELAI_FIELDS = {"text": "content", "displayName": "name", "forceActivation": "constant"}
POSITIONS = ("before_char", "after_char")  # SillyTavern's position 0, and all its other positions


def normalise_book(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the lorebook with every key of V3; missing optional ones are None or empty, unknown ones are kept.

    Raise CardFormatError `too_many_entries` if it has more than MAX_ENTRIES.
    """
    raw = _rename(find_foreign_book(raw) or raw, AGNAI_BOOK)
    entries = raw.get("entries")
    found = list(entries.values()) if isinstance(entries, dict) else entries
    found = [entry for entry in found if isinstance(entry, dict)] if isinstance(found, list) else []
    if len(found) > MAX_ENTRIES:
        raise CardFormatError("too_many_entries")
    recursive = raw.get("recursive_scanning")
    return {
        **raw,
        "name": as_text(raw.get("name")),
        "description": as_text(raw.get("description")),
        "scan_depth": as_number(raw.get("scan_depth"), None),
        "token_budget": as_number(raw.get("token_budget"), None),
        "recursive_scanning": None if recursive is None else as_flag(recursive, default=False),
        "extensions": as_mapping(raw.get("extensions")),
        "entries": [normalise_entry(entry) for entry in found],
    }


def normalise_entry(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the entry with every key of V3; missing ones get their default, None or an empty value."""
    entry = _translate_entry(raw)
    extensions, position = as_mapping(entry.get("extensions")), entry.get("position")
    if isinstance(position, int | float):
        extensions = {"position": position, **extensions}
        position = POSITIONS[position != 0]
    case_sensitive, identity = entry.get("case_sensitive"), entry.get("id")
    is_regex = as_flag(entry.get("use_regex"), default=False)
    separator = None if is_regex else ","  # a pattern may contain commas itself
    return {
        **entry,
        "keys": as_texts(entry.get("keys"), separator),
        "secondary_keys": as_texts(entry.get("secondary_keys"), separator),
        "content": as_text(entry.get("content")),
        "extensions": extensions,
        "enabled": as_flag(entry.get("enabled"), default=True),
        "insertion_order": as_number(entry.get("insertion_order"), 100),
        "use_regex": is_regex,
        "constant": as_flag(entry.get("constant"), default=False),
        "selective": as_flag(entry.get("selective"), default=False),
        "case_sensitive": None if case_sensitive is None else as_flag(case_sensitive, default=False),
        "position": position if position in POSITIONS else None,
        "priority": as_number(entry.get("priority"), None),
        "id": identity if isinstance(identity, str) else as_number(identity, None),
        "name": as_text(entry.get("name")),
        "comment": as_text(entry.get("comment")),
    }


def find_foreign_book(root: dict[str, Any]) -> dict[str, Any] | None:
    """Return the lorebook if the JSON is a file of RisuAI, Agnai or NovelAI, or None.

    Its entries are still in that program's form, which `normalise_entry` recognises.
    """
    entries, listed = root.get("entries"), root.get("data")
    if root.get("type") == "risu" and isinstance(listed, list):
        found = [entry for entry in listed if isinstance(entry, dict) and entry.get("mode") != "folder"]
        return {"entries": found}
    if isinstance(entries, list) and (root.get("kind") == "memory" or "lorebookVersion" in root):
        return root
    return None


def translate_risuai(raw: dict[str, Any]) -> dict[str, Any]:
    """Return an entry of RisuAI's lorebook in the form of a card's entry."""
    chance = as_number(raw.get("activationPercent"), None)
    more = as_mapping(raw.get("extentions"))  # RisuAI's own spelling
    extensions = {"risuai": more} if more else {}
    return {
        "keys": as_text(raw.get("key")),
        "secondary_keys": as_text(raw.get("secondkey")),
        "content": as_text(raw.get("content")),
        "name": as_text(raw.get("comment")),
        "comment": as_text(raw.get("comment")),
        "insertion_order": raw.get("insertorder"),
        "constant": raw.get("alwaysActive"),
        "selective": raw.get("selective"),
        "use_regex": raw.get("useRegex"),
        "case_sensitive": as_flag(more.get("risu_case_sensitive"), default=False),
        "extensions": extensions
        if chance is None
        else {"probability": chance, "useProbability": True, **extensions},
    }


def _translate_entry(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the entry with a card's names for its fields, whichever program wrote it."""
    if "keys" not in raw:
        if RISUAI_KEYS & raw.keys():
            return translate_risuai(raw)
        if "keywords" in raw:
            return _rename(raw, AGNAI_FIELDS)
        return _translate_world_info(raw) if "key" in raw else raw
    if "text" in raw and "content" not in raw:
        order = as_mapping(raw.get("contextConfig")).get("budgetPriority")
        return {"insertion_order": order, **_rename(raw, NOVELAI_FIELDS)}
    return raw


def _rename(raw: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    """Return a copy with the keys renamed; values that it already has under a new name are kept."""
    renamed = {new: raw[old] for old, new in names.items() if old in raw}
    return renamed | {key: value for key, value in raw.items() if key not in names}


def _translate_world_info(raw: dict[str, Any]) -> dict[str, Any]:
    """Return the entry as SillyTavern would embed it in a card: there any key may be a pattern between slashes."""
    known = WORLD_INFO_FIELDS.keys() | WORLD_INFO_EXTENSIONS.keys() | {"disable", "extensions"}
    extensions = {name: raw[key] for key, name in WORLD_INFO_EXTENSIONS.items() if key in raw}
    return {
        **{key: value for key, value in raw.items() if key not in known},
        **{name: raw[key] for key, name in WORLD_INFO_FIELDS.items() if key in raw},
        "enabled": not as_flag(raw.get("disable"), default=False),
        "position": POSITIONS[as_number(raw.get("position"), 0) != 0],
        "use_regex": True,
        "extensions": {**as_mapping(raw.get("extensions")), **extensions},
    }
