"""Read SillyTavern's preset files, of text completion and of chat completion, as far as Kith uses their values.

The form is that of SillyTavern's own presets of 2024 to 2026: one JSON object with a name for each value. Its master
export contains such an object beside its templates, as `preset`.
"""

from dataclasses import dataclass, field
from typing import Any

import orjson
from django.utils.translation import gettext as _

from companions.errors import MindError
from companions.minds.sampling import PARAMETERS, STOP, check_context, check_sampling
from providers.chat.sampling import MAX_OWN_STOPS
from text.strings import shorten, storable

MAX_BYTES = 2_000_000
MAX_NAMED = 200
MAX_NAME_CHARACTERS = 40
CONTEXT = "context_tokens"
NAMES = {
    **{name: name for name in PARAMETERS},
    "temp": "temperature",
    "rep_pen": "repetition_penalty",
    "freq_pen": "frequency_penalty",
    "presence_pen": "presence_penalty",
    "genamt": "max_tokens",
    "openai_max_tokens": "max_tokens",
    "max_length": CONTEXT,
    "openai_max_context": CONTEXT,
    "stop": STOP,
    "stopping_strings": STOP,
    "custom_stopping_strings": STOP,
}
BY_CHANCE = {"seed": -1, "top_k": -1}  # values by which files leave a parameter unset


@dataclass(slots=True)
class ReadPreset:
    """The values of a preset file that Kith uses, the names of those that it does not, and for each value that it
    cannot use a sentence that says why.
    """

    sampling: dict[str, Any] = field(default_factory=dict)
    context_tokens: int | None = None
    unused: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


def read_preset(content: bytes) -> ReadPreset:
    """Parse the content of a preset file. Raise MindError if it is too large, no preset, or has only invalid values."""
    if len(content) > MAX_BYTES:
        raise MindError("file", _("This file is too large: it can have at most %(most)s MB.") % {"most": 2})
    try:
        written = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise MindError("file", _("This is not JSON: %(error)s") % {"error": error}) from error
    if isinstance(written, dict) and isinstance(written.get("preset"), dict):
        written = written["preset"]
    if not isinstance(written, dict) or not NAMES.keys() & written.keys():
        raise MindError("file", _("This is not a SillyTavern preset: it has no value that Kith knows."))
    read, first_error = ReadPreset(), None
    for name, value in written.items():
        known = NAMES.get(name)
        if known is None or known in read.sampling:
            read.unused.append(shorten(storable(name), MAX_NAME_CHARACTERS))
        elif value is not None and value != BY_CHANCE.get(known):
            try:
                _take(read, name, known, value)
            except MindError as error:
                read.refused.append(str(error.detail))
                first_error = first_error or error
    if first_error and not read.sampling and read.context_tokens is None:
        raise first_error
    del read.unused[MAX_NAMED:]
    return read


def _take(read: ReadPreset, name: str, known: str, value: Any) -> None:
    try:
        if known == CONTEXT:
            check_context(value)
            read.context_tokens = value
            return
        if known == STOP:
            value = _read_stops(value)
            if isinstance(value, list) and len(value) > MAX_OWN_STOPS:
                read.unused.append(f"{name}[{MAX_OWN_STOPS}:]")
                value = value[:MAX_OWN_STOPS]
        read.sampling |= check_sampling({known: value})
    except MindError as error:
        raise MindError(name, _("%(place)s: %(wrong)s") % {"place": name, "wrong": error.detail}) from error


def _read_stops(value: Any) -> Any:
    """Return the list of stop strings, which some files contain as JSON in a string."""
    if not isinstance(value, str):
        return value
    try:
        return orjson.loads(value) if value.strip() else []
    except orjson.JSONDecodeError:
        return [value]
