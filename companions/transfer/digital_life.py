"""The format of DigitalLife's files, with eight fields. An invalid file raises an error that names the place."""

from datetime import UTC, datetime, timedelta
from itertools import chain, islice
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
from memory.models.diary_entry import TITLE_CHARACTERS
from memory.models.revision import SENTENCE_CHARACTERS
from text.json_size import TooManyValuesError, check_json
from text.strings import is_storable, split_sentences

MAX_BYTES = 20_000_000
MAX_IGNORED = 20
MAX_SENTENCES = 500  # of one text
MAX_DIARY_ENTRIES = 5_000  # one a day for thirteen years
MAX_RECALLED = 200  # of one call
SPEAKERS = {"user", "assistant"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
CLAUSE = regex.compile(r"(?<=[，；：、])|(?<=[,;:—–])\s+")
BLANK = regex.compile(r"\s+")


class DigitalLifeError(CompanionsError):
    """The given file cannot be imported; nothing of it was."""


class TooLargeError(DigitalLifeError):
    status = 413

    def __init__(self) -> None:
        detail = _("This file can have at most %(most)s MB.")
        super().__init__("too_large", detail % {"most": MAX_BYTES // 1_000_000})


def to_datetime(milliseconds: float) -> datetime:
    """Return the time of this Unix timestamp in milliseconds. Raise OverflowError if it is out of range."""
    return EPOCH + timedelta(milliseconds=milliseconds)


def split_text(text: str) -> list[str]:
    """Return the text's sentences; those longer than SENTENCE_CHARACTERS are cut at clauses, or else at blanks."""
    parts = []
    for sentence in split_sentences(text):
        while len(sentence) > SENTENCE_CHARACTERS:
            end = SENTENCE_CHARACTERS
            for pattern in (CLAUSE, BLANK):
                if places := [
                    found.start() for found in pattern.finditer(sentence, 1, SENTENCE_CHARACTERS + 1)
                ]:
                    end = places[-1]
                    break
            parts.append(sentence[:end].rstrip())
            sentence = sentence[end:].lstrip()
        parts.append(sentence)
    return parts


def _check_text(text: str) -> str:
    if not is_storable(text):
        raise ValueError(_("It contains characters that are not text."))
    return text


def _check_sentences(text: str) -> str:
    if len(split_text(text)) > MAX_SENTENCES:
        raise ValueError(_("It has more than %(most)s sentences.") % {"most": MAX_SENTENCES})
    return text


def _check_time(milliseconds: float) -> float:
    try:
        if is_moment(to_datetime(milliseconds)):
            return milliseconds
    except OverflowError:
        pass
    raise ValueError(_("It is too far in the past or the future."))


Text = Annotated[str, AfterValidator(_check_text)]
About = Annotated[Text, Field(max_length=40_000), AfterValidator(_check_sentences)]
Summary = Annotated[Text, Field(max_length=20_000), AfterValidator(_check_sentences)]
Milliseconds = Annotated[float, Field(allow_inf_nan=False), AfterValidator(_check_time)]


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
    def _check_length(cls, content: str | None, info: ValidationInfo) -> str | None:
        """Check the length, except of tools' results and system messages: these are not kept."""
        most, is_said = settings.MESSAGE_CHARACTERS, info.data.get("role") in SPEAKERS
        if is_said and len(content or "") > most:
            raise ValueError(_("It has more than %(most)s characters.") % {"most": f"{most:,}"})
        return content

    @property
    def is_message(self) -> bool:
        """Return whether the line is a message of the user or the companion, with text and without tool calls."""
        return self.role in SPEAKERS and not self.tool_calls and bool((self.content or "").strip())


class Archived(Short):
    belongTo: Text


class Long(Part):
    uuid: Text
    startTime: Milliseconds
    endTime: Milliseconds
    title: Annotated[Text, Field(max_length=TITLE_CHARACTERS)]
    summary: Summary
    vector: Any = None

    @model_validator(mode="after")
    def _check_order(self) -> "Long":
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
        """Return how many of the lines are messages."""
        return sum(line.is_message for line in (*self.shortTermMemory, *self.archivedMemory))


def looks_like_mind(body: bytes) -> bool:
    """Return whether the file looks like one of DigitalLife, even if it is not valid."""
    return body.lstrip()[:1] == b"{" and any(
        mark in body for mark in (b'"longTermMemory"', b'"shortTermMemory"')
    )


def parse_mind(body: bytes) -> Mind:
    """Return the parsed and validated file. Raise DigitalLifeError, which names the place of the first mistake."""
    if len(body) > MAX_BYTES:
        raise TooLargeError
    try:
        mind = Mind.model_validate(orjson.loads(check_json(body)))
    except TooManyValuesError as error:
        detail = _("This file has more values than any file of DigitalLife's.")
        raise DigitalLifeError("too_many_values", detail, 413) from error
    except orjson.JSONDecodeError as error:
        raise DigitalLifeError("no_json", _("This is not JSON: %(error)s") % {"error": error}) from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        steps = (f"[{step}]" if isinstance(step, int) else f".{step}" for step in first["loc"])
        place = "".join(steps).lstrip(".") or "JSON"
        detail = _("%(place)s: %(wrong)s") % {"place": place, "wrong": _explain(first)}
        raise DigitalLifeError("bad_field", detail) from error
    _check_links(mind)
    return mind


def _explain(error: ErrorDetails) -> str:
    """Return in a sentence what is wrong with a field."""
    context = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return _("It is missing.")
        case "string_too_long" | "too_long" if context.get("field_type") != "List":
            return _("It has more than %(most)s characters.") % {"most": f"{context['max_length']:,}"}
        case "value_error":
            return str(context["error"])
    return _("It does not have the form that DigitalLife gives it: %(why)s.") % {"why": error["msg"]}


def _check_links(mind: Mind) -> None:
    known: set[str] = set()
    for number, entry in enumerate(mind.longTermMemory):
        if entry.uuid in known:
            place = f"longTermMemory[{number}].uuid"
            raise DigitalLifeError("uuid_twice", _("%(place)s occurs twice.") % {"place": place})
        known.add(entry.uuid)
    for number, message in enumerate(mind.archivedMemory):
        if message.belongTo not in known:
            place = f"archivedMemory[{number}].belongTo"
            detail = _("%(place)s does not name a diary entry of longTermMemory.")
            raise DigitalLifeError("belongs_nowhere", detail % {"place": place})


def find_ignored(mind: Mind) -> list[str]:
    """Return the places of fields that are ignored, since DigitalLife does not have them: the first MAX_IGNORED."""
    of_rows = (
        f"{name}[{number}].{extra}"
        for name in ("longTermMemory", "shortTermMemory", "archivedMemory")
        for number, row in enumerate(getattr(mind, name))
        for extra in row.model_extra or {}
    )
    return list(islice(chain(mind.model_extra or {}, of_rows), MAX_IGNORED))
