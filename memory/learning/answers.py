"""What a model may answer when it is asked to learn. What is not in this form is not kept."""

from contextlib import suppress
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, StringConstraints, ValidationError

from memory.emotion import Emotion
from memory.models.revision import MAX_SENTENCES, SENTENCE_CHARACTERS
from text.strings import is_storable, shorten

LearntKind = Literal["fact", "preference", "event", "promise", "relationship", "goal", "idea", "insight"]
Verdict = Literal["add", "reinforce", "revise", "retract"]
MAX_LEARNT = 30
MAX_SUMMARY = 6000  # characters
MAX_INNER_STATE = 4000  # characters


def _require_storable(text: Any) -> Any:
    if isinstance(text, str) and not is_storable(text):
        raise ValueError("holds characters that are not text")
    return text


def text(most: int) -> Any:
    """Return a string of 1 to `most` characters that a database can keep, without blanks at its ends."""
    constraints = StringConstraints(strip_whitespace=True, min_length=1, max_length=most)
    return Annotated[str, constraints, BeforeValidator(_require_storable)]


class Learnt(BaseModel):
    """One thing to keep. `sources` are numbers of lines, `quotes` stand in those as they are here, `of` is a number
    among the known memories: the one that a verdict other than "add" is about.
    """

    verdict: Verdict = "add"
    of: int | None = None
    kind: LearntKind = "fact"
    text: text(500)  # type: ignore[valid-type]
    sources: list[int] = Field(min_length=1, max_length=20)
    quotes: list[text(500)] = Field(min_length=1, max_length=5)  # type: ignore[valid-type]
    happened_on: date | None = None
    importance: int = Field(5, ge=1, le=10)
    joy: float = Field(0.0, ge=0, le=1, allow_inf_nan=False)
    aversion: float = Field(0.0, ge=0, le=1, allow_inf_nan=False)
    confidence: float = Field(0.8, ge=0, le=1, allow_inf_nan=False)


class Sentence(BaseModel):
    """One sentence of a diary entry, a self-concept or a user profile, with the numbers of the lines behind it.

    `keeps` is the number of a sentence of the earlier revision that it takes over, changed or not.
    """

    text: text(SENTENCE_CHARACTERS)  # type: ignore[valid-type]
    sources: list[int] = Field(default_factory=list, max_length=50)
    keeps: int | None = None


def each(model: type[BaseModel], most: int) -> BeforeValidator:
    """Keep those entries of a list that are in form, at most so many: one bad entry does not spoil the others."""

    def keep(entries: Any) -> Any:
        if not isinstance(entries, list):
            raise ValueError("is no list")
        valid = []
        for entry in entries:
            with suppress(ValidationError):
                valid.append(model.model_validate(entry))
        return valid[:most]

    return BeforeValidator(keep)


class Digest(BaseModel):
    """The answer about a batch: the session's summary, revised, and what is to be learnt."""

    summary: text(MAX_SUMMARY)  # type: ignore[valid-type]
    memories: Annotated[list[Learnt], each(Learnt, MAX_LEARNT)]


Sentences = Annotated[list[Sentence], each(Sentence, MAX_SENTENCES)]


def _shorten(text: Any) -> Any:
    return shorten(text.strip(), MAX_INNER_STATE) if isinstance(text, str) else text


def _clamp(number: Any, least: float) -> Any:
    if isinstance(number, bool) or not isinstance(number, int | float):
        return number
    return min(max(number, least), 1.0) if number == number else 0.0  # NaN is not itself


def _known_or_neutral(emotion: Any) -> Any:
    return emotion if emotion in Emotion.values or not isinstance(emotion, str) else Emotion.NEUTRAL


UpAndDown = Annotated[float, Field(ge=-1, le=1), BeforeValidator(partial(_clamp, least=-1.0))]
Share = Annotated[float, Field(ge=0, le=1), BeforeValidator(partial(_clamp, least=0.0))]


class Reflection(BaseModel):
    """A companion's inner state as it is from now on. Numbers beyond their bounds are clamped, a strange emotion is
    neutral, and too long a text is cut; but nothing may be missing.
    """

    text: Annotated[text(MAX_INNER_STATE), BeforeValidator(_shorten)]  # type: ignore[valid-type]
    valence: UpAndDown
    arousal: Share
    emotion: Annotated[Emotion, BeforeValidator(_known_or_neutral)]
    intensity: Share


def _valid_or_none(reflection: Any) -> Reflection | None:
    """Return None for what is not in form: it does not spoil the rest of an answer."""
    with suppress(ValidationError, ArithmeticError):
        return Reflection.model_validate(reflection)
    return None


class Ending(Digest):
    """The answer about a whole session as it ends; the summary stays behind as the diary entry's sentences.

    The inner state is None where it stays as it was.
    """

    summary: str = Field("", max_length=MAX_SUMMARY)
    title: text(120)  # type: ignore[valid-type]
    diary: Annotated[Sentences, Field(min_length=1)]
    emotion: Emotion = Emotion.NEUTRAL
    intensity: float = Field(0.0, ge=0, le=1, allow_inf_nan=False)
    self_concept: Sentences
    user_profile: Sentences
    inner_state: Annotated[Reflection | None, BeforeValidator(_valid_or_none)] = None
