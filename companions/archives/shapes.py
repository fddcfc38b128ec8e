"""Checks of JSON fields whose keys pages, prompts and jobs read: an archive with another shape is refused."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models
from pydantic import TypeAdapter
from typing_extensions import TypedDict  # Python 3.11's own will not do for pydantic

from companions.face.portraits import TABLES
from companions.lore.editing import check_entry
from companions.lore.explanation import explain
from companions.models import Companion
from companions.models.companion import CHARACTER_FIELDS
from memory.emotion import Emotion

Check = Callable[[Any], Any]
MAX_FEATURE_CHARACTERS = 40
# The type of value of a character's text, by the class of its field; all others are strings.
KINDS = {ArrayField: list, models.PositiveSmallIntegerField: int}


class Sentence(TypedDict):
    text: str
    sources: list[UUID]


class Quote(TypedDict):
    message: UUID
    text: str


class Felt(TypedDict):
    at: int
    emotion: Emotion
    intensity: float


class Call(TypedDict):
    name: str
    arguments: str
    result: dict[str, Any]


class Step(Call):
    round: int


class Verdict(TypedDict):
    outcome: str
    memory: UUID | None


class LoreTexts(TypedDict, total=False):
    keys: list[str]
    secondary_keys: list[str]
    content: str
    extensions: dict[str, Any]


class CardData(TypedDict, total=False):
    tags: list[str]
    creator_notes: str
    extensions: dict[str, Any]


class CardContent(TypedDict, total=False):
    data: CardData


def _shape(of: Any) -> Check:
    return TypeAdapter(of).validate_python


OBJECT = _shape(dict[str, Any])
CALLS = _shape(list[Call])
STEPS = _shape(list[Step])
SENTENCES = _shape(list[Sentence])
QUOTES = _shape(list[Quote])
EMOTIONS = _shape(list[Felt])
VERDICTS = _shape(list[Verdict])
DIGESTS = _shape(list[list[str]])
CARD = _shape(CardContent)
LORE_TEXTS = _shape(LoreTexts)


def check_lore(lore: Any) -> None:
    """Raise if the page of a reply's trace could not explain which lore entered its prompt."""
    explain(TypeAdapter(dict[str, list[dict[str, Any]]]).validate_python(lore))


def check_lore_entry(entry: Any) -> None:
    """Raise if `entry` is no entry of a lorebook, or is too large."""
    LORE_TEXTS(entry)
    check_entry(entry)


def check_character(texts: Any) -> None:
    """Raise if `texts` are not texts that a companion's character can have, by field name."""
    if not texts.keys() <= set(CHARACTER_FIELDS):
        raise ValueError
    for name, value in texts.items():
        model_field: Any = Companion._meta.get_field(name)
        kind = KINDS.get(type(model_field), str)
        if type(value) is not kind:
            raise TypeError(name)
        most = getattr(model_field, "base_field", model_field).max_length
        parts = value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and len(text) > most for text in parts):
            raise ValueError(name)
        model_field.clean(value, None)


def check_character_fields(names: Any) -> None:
    """Raise if one of `names` is no field of a companion's character."""
    if not set(names) <= set(CHARACTER_FIELDS):
        raise ValueError


def check_features(chosen: Any) -> None:
    """Raise if `chosen` has an unknown feature or a long name. Names unknown to this version are ignored in drawing."""
    for feature, name in TypeAdapter(dict[str, str]).validate_python(chosen).items():
        if feature not in TABLES or len(name) > MAX_FEATURE_CHARACTERS:
            raise ValueError(feature)
