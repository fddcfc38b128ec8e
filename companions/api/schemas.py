"""What goes into the API and comes out of it."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.conf import settings
from ninja import Field, Schema
from ninja.params import functions as P
from pydantic import AfterValidator, AwareDatetime, StringConstraints, field_validator, model_validator

from companions.conversations.log_import import MAX_MESSAGES
from companions.deletion import MAX_AT_ONCE
from companions.moments import FIRST_YEAR, LAST_YEAR, is_moment
from memory.emotion import Emotion
from memory.errors import PolicyError
from memory.models import Memory
from memory.recall.candidates import MemoryFilter
from memory.recall.novelty import ALIKE, MAX_OBSERVATIONS
from memory.recall.ranking import MAX_FOUND
from memory.scoring import CHOICES, by_name
from text.storable import is_storable


def _storable(text: str) -> str:
    if not is_storable(text):
        raise ValueError("holds characters that are not text")
    return text


def _told(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


def _near(at: datetime) -> datetime:
    if not is_moment(at):
        raise ValueError(f"lies outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return at


def _policy(name: str) -> str:
    try:
        return by_name(name).name
    except PolicyError as error:
        raise ValueError(str(error)) from error


Moment = Annotated[AwareDatetime, AfterValidator(_near)]
Text = Annotated[str, AfterValidator(_storable)]
Told = Annotated[str, AfterValidator(_storable), AfterValidator(_told)]
Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80), AfterValidator(_storable)
]
Policy = Annotated[
    str,
    AfterValidator(_policy),
    Field(
        description="The rule by which memories come to mind.",
        json_schema_extra={"enum": [name for name, _words in CHOICES]},
    ),
]
Parameters = Annotated[
    dict[str, Annotated[float, Field(strict=True, allow_inf_nan=False)]],
    Field(
        description="Those of the rule's numbers that are not as usual; another rule begins with its usual ones."
    ),
]
ClientId = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(_storable)]


IdempotencyKey = Annotated[str | None, P.Header(alias="Idempotency-Key")]
Accept = Annotated[str, P.Header(alias="Accept")]
WaitSeconds = Annotated[int, P.Query(ge=0, le=300, description="Seconds to wait for the answer.")]
WithMessage = Annotated[bool, P.Query(description="Delete the message it came from, too.")]


class CompanionIn(Schema):
    name: Name
    persona: Text = Field("", max_length=20_000)
    greeting: Text = Field("", max_length=4_000)
    tint: int = Field(40, ge=0, le=359, description="A hue in degrees.")


class CompanionPatch(Schema):
    name: Name | None = None
    persona: Text | None = Field(None, max_length=20_000)
    greeting: Text | None = Field(None, max_length=4_000)
    tint: int | None = Field(None, ge=0, le=359)
    recall_policy: Policy | None = None
    recall_parameters: Parameters | None = None


class CompanionOut(Schema):
    id: UUID
    name: str
    persona: str
    greeting: str
    tint: int
    recall_policy: Policy
    recall_parameters: dict[str, float]
    created_at: datetime


class CompanionsOut(Schema):
    items: list[CompanionOut]
    next: str | None


class MessageIn(Schema):
    text: str
    client_id: ClientId | None = None


class MessageOut(Schema):
    id: UUID
    role: str
    text: str
    client_id: str | None
    said_at: datetime
    is_hidden: bool
    is_rehearsed: bool


class MessagesOut(Schema):
    items: list[MessageOut]
    next: str | None


class FoundOut(Schema):
    id: UUID
    kind: str
    text: str
    happened_at: datetime
    score: float
    reasons: dict[str, Any]
    why: str


class RecalledOut(FoundOut):
    message_id: UUID | None


class EmotionOut(Schema):
    at: int = Field(description="From which character of the text on.")
    emotion: Emotion
    intensity: float = Field(description="0 to 1.")


class ReplyOut(Schema):
    id: UUID
    state: str
    text: str
    emotions: list[EmotionOut]
    message_id: UUID
    answer_id: UUID | None
    recalled: list[RecalledOut]
    code: str | None
    detail: str | None


class TurnOut(Schema):
    message: MessageOut
    reply: ReplyOut


class SourceOut(Schema):
    message_id: UUID
    client_id: str | None


class MemoryIn(Schema):
    text: Told = Field(max_length=8_000)
    happened_at: Moment | None = None


class MemoryPatch(Schema):
    text: Told | None = Field(None, max_length=8_000)
    is_pinned: bool | None = None
    is_private: bool | None = Field(None, description="Kept from models, with what was drawn from it alone.")
    importance: int | None = Field(None, ge=1, le=10, description="5 is usual.")
    happened_at: Moment | None = None


class QuoteOut(Schema):
    message: UUID
    text: str


class MemoryOut(Schema):
    id: UUID
    kind: Memory.Kind
    text: str
    speaker: str
    happened_at: datetime
    learnt_at: datetime
    edited_at: datetime | None
    closed_at: datetime | None
    replaced_by_id: UUID | None
    is_pinned: bool
    is_private: bool
    importance: int
    evidence: int
    confidence: float
    quotes: list[QuoteOut]
    joy: float
    aversion: float
    times_recalled: int
    recalled_at: datetime | None
    sources: list[SourceOut]


class MemoriesOut(Schema):
    items: list[MemoryOut]
    next: str | None


class WhichIn(Schema):
    since: Moment | None = Field(None, description="What happened from this time on.")
    until: Moment | None = Field(None, description="What happened before this time.")
    speaker: Memory.Speaker | None = Field(None, description="What this one of the two said.")
    message_ids: list[UUID] = Field([], max_length=100, description="What comes from one of these messages.")
    as_of: Moment | None = Field(None, description="What had happened, and still held, at this time.")

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.since and self.until and self.since > self.until:
            raise ValueError("since lies after until")
        return self

    def filters(self, *kinds: Memory.Kind) -> MemoryFilter:
        return MemoryFilter(
            with_private=True,
            kinds=kinds,
            speaker=self.speaker or "",
            since=self.since,
            until=self.until,
            sources=self.message_ids,
            as_of=self.as_of,
        )


class ListedIn(WhichIn):
    kind: Memory.Kind | None = None


class RecallIn(WhichIn):
    cue: Told = Field(max_length=32_000)
    kinds: list[Memory.Kind] = Field([], max_length=20, description="Only memories of these kinds.")
    limit: int = Field(10, ge=1, le=MAX_FOUND)
    offset: int = Field(0, ge=0, le=MAX_FOUND, description="Skip the best so many.")


class DeleteIn(Schema):
    ids: list[UUID] = Field([], max_length=MAX_AT_ONCE, description="These memories; others are passed over.")
    all: bool = Field(False, description="All of them, in place of some.")
    kinds: list[Memory.Kind] = Field([], max_length=20, description="With `all`: only those of these kinds.")
    confirm: str = Field("", description="With `all`: the companion's name, so that nothing goes by a slip.")
    with_messages: bool = Field(
        False,
        description="Delete the messages as well that they come from; else those are hidden from prompts.",
    )

    @model_validator(mode="after")
    def _names_something(self) -> Self:
        if self.all == bool(self.ids):
            raise ValueError("name ids, or all")
        if self.kinds and not self.all:
            raise ValueError("kinds go with all")
        return self


class DeletedOut(Schema):
    deleted: int


class NewsIn(Schema):
    observations: list[Annotated[Told, StringConstraints(max_length=8_000)]] = Field(
        max_length=MAX_OBSERVATIONS
    )
    threshold: float = Field(
        ALIKE, ge=0, le=1, allow_inf_nan=False, description="The likeness, a cosine, from which it is known."
    )

    @field_validator("observations")
    @classmethod
    def _are_not_too_long_together(cls, observations: list[str]) -> list[str]:
        most = settings.NEWS_CHARACTERS
        if sum(map(len, observations)) > most:
            raise ValueError(
                f"All observations together can hold {most:,} characters. Ask in several requests."
            )
        return observations


class KnownOut(Schema):
    observation: str
    likeness: float
    memory: MemoryOut


class NewsOut(Schema):
    new: list[str]
    known: list[KnownOut]
    by_meaning: bool = Field(description="Whether meanings were compared, or equal texts alone.")


class ResultOut(FoundOut):
    sources: list[SourceOut]


class ResultsOut(Schema):
    results: list[ResultOut]


class LogLineIn(Schema):
    client_id: ClientId | None = None
    role: Annotated[str, StringConstraints(pattern="^(user|assistant)$")]
    name: Text = Field("", max_length=80)
    text: Told = Field(max_length=32_000)
    at: Moment


class LogIn(Schema):
    messages: list[LogLineIn] = Field(max_length=MAX_MESSAGES)


class ProgressOut(Schema):
    id: UUID
    state: str
    done: int
    total: int
    error: str | None


class JobOut(Schema):
    job: ProgressOut
