"""The eight fields as DigitalLife writes them. What is in another form is refused, and the place is named."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Literal

import orjson
import regex
from django.conf import settings
from django.utils.translation import gettext as _
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from companions.errors import CompanionsError
from companions.moments import is_moment
from memory.models.revision import SENTENCE_CHARACTERS
from text.sentences import split_sentences
from text.storable import is_storable

CLAUSE = regex.compile(r"(?<=[，；：、])|(?<=[,;:—–])\s+")
BLANK = regex.compile(r"\s+")


def split_text(text: str) -> list[str]:
    """The sentences of the text, none empty; one of more than 400 characters is parted at clauses, else at blanks."""
    return [part for sentence in split_sentences(text) for part in _fitting(sentence)]


def _fitting(sentence: str) -> Iterator[str]:
    while len(sentence) > SENTENCE_CHARACTERS:
        begin = _first(sentence)
        yield sentence[:begin].rstrip()
        sentence = sentence[begin:].lstrip()
    yield sentence


def _first(sentence: str) -> int:
    """Where the first part of a sentence that is too long ends."""
    for pattern in (CLAUSE, BLANK):
        places = [one.start() for one in pattern.finditer(sentence, 1, SENTENCE_CHARACTERS + 1)]
        if places:
            return places[-1]
    return SENTENCE_CHARACTERS


MAX_BYTES = 20_000_000
MAX_IGNORED = 20
MAX_SENTENCES = 500  # sentences of one text
MAX_DIARY_ENTRIES = 5_000  # entries, one a day for thirteen years
MAX_RECALLED = 200  # by one call
SPEAKERS = {"user", "assistant"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class MovingError(CompanionsError):
    """What was given cannot be taken in; nothing of it was."""


class TooLargeError(MovingError):
    status = 413


def too_large() -> TooLargeError:
    detail = _("This file can hold %(most)s MB.")
    return TooLargeError("too_large", detail % {"most": MAX_BYTES // 1_000_000})


def _text(text: str) -> str:
    if not is_storable(text):
        raise ValueError(_("It holds characters that are not text."))
    return text


def _moment(milliseconds: float) -> float:
    try:
        if is_moment(moment(milliseconds)):
            return milliseconds
    except OverflowError:
        pass
    raise ValueError(_("It lies too far away."))


def moment(milliseconds: float) -> datetime:
    """The time so many milliseconds after 1970 began. OverflowError where there is none."""
    return EPOCH + timedelta(milliseconds=milliseconds)


def _few_sentences(text: str) -> str:
    if len(split_text(text)) > MAX_SENTENCES:
        raise ValueError(_("It holds more than %(most)s sentences.") % {"most": MAX_SENTENCES})
    return text


Text = Annotated[str, AfterValidator(_text)]
About = Annotated[Text, Field(max_length=40_000), AfterValidator(_few_sentences)]
Summary = Annotated[Text, Field(max_length=20_000), AfterValidator(_few_sentences)]
Milliseconds = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_moment)]


class Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")


class RecalledIn(Part):
    uuid: Text
    similarity: Annotated[float, Field(allow_inf_nan=False)] = 0.0
    desc: Text = ""


class Short(Part):
    role: Literal["system", "user", "assistant", "tool"]
    content: Text | None = ""
    timestamp: Milliseconds
    tool_calls: list[Any] | None = None
    tool_call_id: Text | None = None
    recall: Annotated[list[RecalledIn], Field(max_length=MAX_RECALLED)] | None = None

    @field_validator("content")
    @classmethod
    def _not_too_long(cls, content: str | None, info: ValidationInfo) -> str | None:
        """What a tool answered, or the system said, is not kept, and may be longer."""
        most, is_said = settings.MESSAGE_CHARACTERS, info.data.get("role") in SPEAKERS
        if is_said and len(content or "") > most:
            raise ValueError(_("It holds more than %(most)s characters.") % {"most": f"{most:,}"})
        return content

    @property
    def is_message(self) -> bool:
        """Whether somebody said something."""
        return self.role in SPEAKERS and not self.tool_calls and bool((self.content or "").strip())


class Archived(Short):
    belongTo: Text


class Long(Part):
    uuid: Text
    startTime: Milliseconds
    endTime: Milliseconds
    title: Annotated[Text, Field(max_length=200)]
    summary: Summary
    vector: Any = None

    @model_validator(mode="after")
    def _in_order(self) -> "Long":
        if self.endTime < self.startTime:
            raise ValueError(_("It ends before it begins."))
        return self


class Mind(Part):
    selfName: Annotated[Text, Field(min_length=1, max_length=80)]
    userName: Annotated[Text, Field(max_length=80)]
    memoryAboutSelf: About
    memoryAboutUser: About
    longTermMemory: Annotated[list[Long], Field(max_length=MAX_DIARY_ENTRIES)]
    shortTermMemory: list[Short]
    archivedMemory: list[Archived]
    currentSummary: Annotated[Text, Field(max_length=20_000)]

    @property
    def messages(self) -> int:
        """How many of its lines are messages."""
        return sum(one.is_message for one in (*self.shortTermMemory, *self.archivedMemory))


def parse_mind(body: bytes) -> Mind:
    """What was given, in form. MovingError names the place of the first thing that is not."""
    if len(body) > MAX_BYTES:
        raise too_large()
    try:
        mind = Mind.model_validate(orjson.loads(body))
    except orjson.JSONDecodeError as error:
        raise MovingError("no_json", _("This is no JSON: %(error)s") % {"error": error}) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        told = {"place": _place(first["loc"]), "wrong": _wrong(first)}
        raise MovingError("bad_field", _("%(place)s: %(wrong)s") % told) from error
    _look_at_links(mind)
    return mind


def find_ignored(mind: Mind) -> list[str]:
    """The places of the first twenty fields that DigitalLife does not have; they are passed over."""
    return [place for place, _one in zip(_unknown(mind), range(MAX_IGNORED), strict=False)]


def _look_at_links(mind: Mind) -> None:
    known: set[str] = set()
    for number, entry in enumerate(mind.longTermMemory):
        if entry.uuid in known:
            place = f"longTermMemory[{number}].uuid"
            raise MovingError("uuid_twice", _("%(place)s stands there twice.") % {"place": place})
        known.add(entry.uuid)
    for number, message in enumerate(mind.archivedMemory):
        if message.belongTo not in known:
            place = f"archivedMemory[{number}].belongTo"
            detail = _("%(place)s names no diary entry of longTermMemory.")
            raise MovingError("belongs_nowhere", detail % {"place": place})


def _unknown(mind: Mind) -> Iterator[str]:
    yield from mind.model_extra or {}
    for name in ("longTermMemory", "shortTermMemory", "archivedMemory"):
        for number, one in enumerate(getattr(mind, name)):
            yield from (f"{name}[{number}].{extra}" for extra in one.model_extra or {})


def _wrong(error: ErrorDetails) -> str:
    """What is wrong with a field, in a sentence; the first of these is by far what happens most."""
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return _("It is not there.")
        case "string_too_long" | "too_long" if context.get("field_type") != "List":
            return _("It holds more than %(most)s characters.") % {"most": f"{context['max_length']:,}"}
        case "value_error":
            return str(context["error"])
    return _("It is not of the form that DigitalLife gives it: %(why)s.") % {"why": error["msg"]}


def _place(loc: tuple[int | str, ...]) -> str:
    return "".join(f"[{one}]" if isinstance(one, int) else f".{one}" for one in loc).lstrip(".") or "JSON"
