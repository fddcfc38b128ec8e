"""The forms of a model's answers when it is asked to learn. What does not fit its form is dropped.

An invalid field falls back to its default; an entry without text, sources or quotes is dropped without the others.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal, Self, TypeVar, get_args

import regex
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    Field,
    ModelWrapValidatorHandler,
    PrivateAttr,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.json_schema import SkipJsonSchema

from memory.emotion import Emotion
from memory.models.revision import MAX_SENTENCES, SENTENCE_CHARACTERS
from text.strings import check_storable, has_words, is_storable, shorten, split_sentences

T = TypeVar("T")
LearntKind = Literal["fact", "preference", "event", "promise", "relationship", "goal", "idea", "insight"]
Verdict = Literal["add", "reinforce", "revise", "retract"]
Meant = Literal["", "serious", "joke", "irony", "if", "role_play", "quotation", "request", "question"]
Thread = Literal["", "open", "settled"]
Do = Literal["keep", "change", "add", "drop"]
MAX_LEARNT = 30
LEARNT_CHARACTERS = 500
MAX_SOURCES, MAX_QUOTES, QUOTE_CHARACTERS = 20, 5, 500
MAX_SUMMARY = 6000  # characters
MAX_TITLE = 120  # characters
MAX_TITLE_FROM_TEXT = 60  # characters of a title that is made from the entry's first words
MAX_INNER_STATE = 4000  # characters
MAX_EDITS = 2 * MAX_SENTENCES
# A line of the talk, as the request shows it ("[3] 09:05 Emily (user): …"), which small models copy.
COPIED_LINE = regex.compile(r"(?:\[\d+\] ?)?\d\d:\d\d [^:\n]{1,80} \((?:user|companion)\):")
NUMBER = regex.compile(r"-?\d{1,17}(?:\.\d{1,6})?")
# What models write instead of the words that they are asked for.
MEANT_WORDS = {
    "sarcasm": "irony", "sarcastic": "irony", "ironic": "irony", "ironically": "irony",
    "joking": "joke", "jokingly": "joke", "teasing": "joke", "tease": "joke", "kidding": "joke", "playful": "joke",
    "hypothetical": "if", "hypothetically": "if", "conditional": "if", "imagined": "if", "wish": "if",
    "roleplay": "role_play", "role-play": "role_play", "role play": "role_play", "fiction": "role_play",
    "fictional": "role_play", "story": "role_play", "game": "role_play",
    "quote": "quotation", "quoting": "quotation", "quoted": "quotation", "lyrics": "quotation",
    "asking": "question", "command": "request", "instruction": "request", "reminder": "request",
    "literal": "serious", "sincere": "serious", "honest": "serious", "seriously": "serious", "earnest": "serious",
}  # fmt: skip
VERDICT_WORDS = {
    "update": "revise", "change": "revise", "replace": "revise", "delete": "retract", "remove": "retract",
    "deny": "retract", "confirm": "reinforce", "repeat": "reinforce", "new": "add",
}  # fmt: skip
DO_WORDS = {
    "revise": "change", "update": "change", "edit": "change", "remove": "drop", "delete": "drop", "new": "add",
}  # fmt: skip


def _require_words(text: str) -> str:
    """Raise ValueError if the text has no letter and no digit, as the "…" of the form that the model was shown, or if it
    only copies a line: "I" in it would be taken for somebody else.
    """
    if not has_words(text) or COPIED_LINE.match(text):
        raise ValueError("says nothing")
    return text


def text_up_to(most: int) -> Any:
    """Return the type of a stripped string of 1 to `most` characters, with words, that PostgreSQL can store."""
    constraints = StringConstraints(strip_whitespace=True, min_length=1, max_length=most)
    return Annotated[str, constraints, AfterValidator(check_storable), AfterValidator(_require_words)]


# -- fields as models write them


def _read_number(value: Any) -> float | None:
    """Return the number, also from a string such as "8/10" or "80%" (0.8); None if there is none."""
    if isinstance(value, str) and (match := NUMBER.search(value)):
        number = float(match[0])
        return number / 100 if value[match.end() :].lstrip().startswith("%") else number
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if abs(value) < 1e17 and value == value else None  # NaN does not equal itself


def _clamp(value: Any, least: float, most: float, default: float) -> float:
    if isinstance(value, int | float) and abs(value) >= 1e17:
        return most if value > 0 else least
    number = _read_number(value)
    return default if number is None else min(max(number, least), most)


def _read_integer(value: Any) -> int | None:
    """Return the whole number, also from a string such as "M3"; None if there is none."""
    number = _read_number(value)
    return int(number) if number is not None and number == int(number) else None


def _read_integers(values: Any) -> list[int]:
    if isinstance(values, str):
        values = regex.findall(r"-?\d{1,17}(?![\d.])", values)
    listed = values if isinstance(values, list) else [values]
    return [number for value in listed if (number := _read_integer(value)) is not None][:MAX_SOURCES]


def _read_quotes(values: Any) -> list[str]:
    listed = values if isinstance(values, list) else [values]
    words = (value.strip() for value in listed if isinstance(value, str) and is_storable(value))
    return [value for value in words if 0 < len(value) <= QUOTE_CHARACTERS][:MAX_QUOTES]


def _read_date(value: Any) -> date | None:
    if isinstance(value, date):
        return value
    with suppress(ValueError):
        return date.fromisoformat(value.strip()[:10]) if isinstance(value, str) else None
    return None


def _read_word(value: Any, known: Collection[str], others: dict[str, str], default: str) -> str:
    word = value.strip().lower() if isinstance(value, str) else ""
    word = others.get(word, word).replace(" ", "_")
    return word if word in known else default


def _shorten(text: Any) -> Any:
    return shorten(text.strip(), MAX_INNER_STATE) if isinstance(text, str) else text


def _read_title(title: Any) -> str:
    """Return the title, shortened if it is long; "" if it is none."""
    is_title = isinstance(title, str) and is_storable(title) and has_words(title)
    is_title = is_title and not COPIED_LINE.match(title)
    return shorten(" ".join(title.split()), MAX_TITLE) if is_title else ""


def _split_long(entries: Any) -> Any:
    """Return the entries of a diary, of which each has one sentence: also those of a diary that is one text, or that
    has entries of several sentences, too long for one; these keep the sources of their entry.
    """
    split: list[Any] = []
    for entry in [entries] if isinstance(entries, str) else entries if isinstance(entries, list) else []:
        given = {"text": entry} if isinstance(entry, str) else entry
        words = given.get("text") if isinstance(given, dict) else None
        if isinstance(words, str) and (isinstance(entry, str) or len(words.strip()) > SENTENCE_CHARACTERS):
            split += ({**given, "text": sentence} for sentence in split_sentences(words))
        else:
            split.append(entry)
    return split or entries


def _known_or_neutral(emotion: Any) -> Any:
    return emotion if emotion in Emotion.values else Emotion.NEUTRAL


def share(default: float, least: float = 0.0) -> Any:
    """Return the type of a number that is clamped to `least` to 1, or `default` if the value is no number."""
    return Annotated[float, BeforeValidator(partial(_clamp, least=least, most=1.0, default=default))]


def word_of(words: Any, others: dict[str, str], default: str) -> Any:
    """Return the type of one of these words; `others` maps further words to them, and the rest become `default`."""
    read = partial(_read_word, known=get_args(words), others=others, default=default)
    return Annotated[words, BeforeValidator(read)]


Integer = Annotated[int | None, BeforeValidator(_read_integer)]
Integers = Annotated[list[int], BeforeValidator(_read_integers)]
Importance = Annotated[int, BeforeValidator(lambda value: round(_clamp(value, 1, 10, 5)))]
Mood = Annotated[Emotion, BeforeValidator(_known_or_neutral)]


# A server that keeps to the schema lets a model ramble so far, and the rest of the answer must fit into its limit, too.
SHORT_STATE = Field(json_schema_extra={"maxLength": MAX_INNER_STATE // 2})


# -- answers


class Learnt(BaseModel):
    """One thing to keep. `sources` are numbers of lines, `quotes` stand in those as they are here, `of` is a number
    among the known memories: the one that a verdict other than "add" is about. `meant` is how the lines are meant;
    empty where the model does not say. `thread` is whether it is open between the two, or settles what was.
    """

    verdict: word_of(Verdict, VERDICT_WORDS, "add") = "add"  # type: ignore[valid-type]
    of: Integer = None
    kind: word_of(LearntKind, {}, "fact") = "fact"  # type: ignore[valid-type]
    text: text_up_to(LEARNT_CHARACTERS)  # type: ignore[valid-type]
    meant: word_of(Meant, MEANT_WORDS, "") = ""  # type: ignore[valid-type]
    sources: Annotated[Integers, Field(min_length=1)]
    quotes: Annotated[list[str], Field(min_length=1), BeforeValidator(_read_quotes)]
    thread: word_of(Thread, {"closed": "settled", "done": "settled"}, "") = ""  # type: ignore[valid-type]
    happened_on: Annotated[date | None, BeforeValidator(_read_date)] = None
    importance: Importance = 5
    joy: share(0.0) = 0.0  # type: ignore[valid-type]
    aversion: share(0.0) = 0.0  # type: ignore[valid-type]
    confidence: share(0.8) = 0.8  # type: ignore[valid-type]

    def find_known(self, known: Sequence[T]) -> T | None:
        """Return that one of the known memories which `of` names, or None if it names none."""
        return known[self.of - 1] if self.of and 1 <= self.of <= len(known) else None


class Sentence(BaseModel):
    """One sentence of a diary entry, a self-concept or a user profile, with the numbers of the lines behind it.

    `keeps`, of which no model is asked, is the number of a sentence of the earlier revision that it takes over.
    """

    text: text_up_to(SENTENCE_CHARACTERS)  # type: ignore[valid-type]
    sources: Integers = Field(default_factory=list)
    keeps: SkipJsonSchema[Integer] = None


class Edit(BaseModel):
    """A change of one sentence of a self-concept or a user profile; what no edit names stays as it is."""

    do: word_of(Do, DO_WORDS, "add") = "add"  # type: ignore[valid-type]
    number: Integer = None
    text: str = Field("", max_length=SENTENCE_CHARACTERS)
    sources: Integers = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _name_what_is_done(cls, edit: Any) -> Any:
        """Accept a bare text, `keeps` for `number`, and no `do`: that is a change with a `number`, else an addition."""
        if isinstance(edit, str):
            edit = {"text": edit}
        if isinstance(edit, dict) and "keeps" in edit:
            edit = {"number": edit["keeps"], **edit}
        if isinstance(edit, dict) and not edit.get("do"):
            edit = {**edit, "do": "change" if _read_integer(edit.get("number")) else "add"}
        return edit

    @model_validator(mode="after")
    def _require_words(self) -> Self:
        self.text = check_storable(self.text.strip())
        if self.do in {"change", "add"}:
            _require_words(self.text)
        return self


def each(model: type[BaseModel], most: int) -> BeforeValidator:
    """Return a validator that keeps at most `most` valid entries of a list: a bad one does not spoil the others."""

    def keep(entries: Any) -> Any:
        if isinstance(entries, dict):  # a single entry, or a list as an object
            entries = [entries] if "text" in entries else list(entries.values())
        if not isinstance(entries, list):
            raise ValueError("is no list")
        valid = []
        for entry in entries:
            with suppress(ValidationError):
                valid.append(model.model_validate(entry))
        return valid[:most]

    return BeforeValidator(keep)


class Facts(BaseModel):
    """The answer about lines: what is to be learnt of them."""

    memories: Annotated[list[Learnt], each(Learnt, MAX_LEARNT)]
    _unreadable: int = PrivateAttr(0)

    @property
    def unreadable(self) -> int:
        """How many entries were left out because they are invalid."""
        return self._unreadable

    @model_validator(mode="wrap")
    @classmethod
    def _count_unreadable(cls, data: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        facts = handler(data)
        entries = data.get("memories") if isinstance(data, dict) else None
        listed = len(entries) if isinstance(entries, list) else 0
        facts._unreadable = max(0, min(listed, MAX_LEARNT) - len(facts.memories))
        return facts


class Digest(Facts):
    """The answer about a batch: the session's summary, revised, and what is to be learnt."""

    summary: text_up_to(MAX_SUMMARY)  # type: ignore[valid-type]


Sentences = Annotated[list[Sentence], each(Sentence, MAX_SENTENCES)]
Edits = Annotated[list[Edit], each(Edit, MAX_EDITS)]


class Reflection(BaseModel):
    """A companion's inner state as it is from now on. Numbers beyond their bounds are clamped, a strange emotion is
    neutral, and too long a text is cut; but nothing may be missing.
    """

    text: Annotated[text_up_to(MAX_INNER_STATE), BeforeValidator(_shorten), SHORT_STATE]  # type: ignore[valid-type]
    valence: share(0.0, -1.0)  # type: ignore[valid-type]
    arousal: share(0.0)  # type: ignore[valid-type]
    emotion: Mood
    intensity: share(0.0)  # type: ignore[valid-type]


def _valid_or_none(reflection: Any) -> Reflection | None:
    """Return the reflection, or None if it is invalid, so that it does not spoil the rest of an answer."""
    with suppress(ValidationError, ArithmeticError):
        return Reflection.model_validate(reflection)
    return None


class Diary(BaseModel):
    """The answer about a whole session as it ends; the inner state is None where it stays as it was.

    The title is empty where the model gave none.
    """

    title: Annotated[str, BeforeValidator(_read_title), Field(max_length=MAX_TITLE)]
    diary: Annotated[Sentences, BeforeValidator(_split_long), Field(min_length=1)]
    emotion: Mood = Emotion.NEUTRAL
    intensity: share(0.0) = 0.0  # type: ignore[valid-type]
    inner_state: Annotated[Reflection | None, BeforeValidator(_valid_or_none)] = None

    @model_validator(mode="before")
    @classmethod
    def _need_no_title(cls, diary: Any) -> Any:
        """Accept a diary without a title; the schema that the model is given asks for one all the same."""
        return {"title": "", **diary} if isinstance(diary, dict) else diary


class Understanding(BaseModel):
    """The answer about what the two are thought to be, as edits."""

    self_concept: Edits
    user_profile: Edits
