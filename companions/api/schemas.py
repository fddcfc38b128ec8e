"""What the API's modules share: types for texts and times, paginated lists, and schemas of messages and memories."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, Generic, TypeVar
from uuid import UUID

from django.db.models import QuerySet, TextChoices
from ninja import Field, Schema
from ninja.params import functions as P
from pydantic import AfterValidator, AwareDatetime, BeforeValidator, StringConstraints, WithJsonSchema

from accounts.models import User
from companions.events import render_recalled
from companions.memories.reasons import describe_reasons
from companions.moments import FIRST_YEAR, LAST_YEAR, is_moment
from companions.pagination import PageIn, paginate
from memory.models import Recalled
from memory.recall.recall import Found
from text.strings import check_storable

Item = TypeVar("Item")
Out = dict[str, Any]  # the fields of a schema


def _check_filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return text


def _refuse_seconds(at: object) -> object:
    """Refuse a number, which Pydantic takes as seconds since 1970, even in a text such as 20261130."""
    if ":" not in str(at):
        raise ValueError("is no ISO 8601 time with a time zone, such as 2026-04-10T09:00:00Z")
    return at


def _check_timestamp(at: datetime) -> datetime:
    if not is_moment(at):
        raise ValueError(f"lies outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return at.astimezone(UTC)  # PostgreSQL refuses an offset such as +23:59


Timestamp = Annotated[AwareDatetime, BeforeValidator(_refuse_seconds), AfterValidator(_check_timestamp)]
Text = Annotated[str, AfterValidator(check_storable)]
FilledText = Annotated[str, AfterValidator(check_storable), AfterValidator(_check_filled)]
ClientId = Annotated[str, StringConstraints(min_length=1, max_length=200), AfterValidator(check_storable)]
FILE = {"type": "string", "format": "binary"}  # the OpenAPI schema of a file field of a form
IdempotencyKey = Annotated[
    str | None,
    P.Header(
        alias="Idempotency-Key",
        description="Up to 200 printable characters. Sent again with the same key within a day, the request "
        "is not carried out again, and has the same result.",
    ),
]


class ListOut(Schema, Generic[Item]):
    """A page of a list, and the cursor of the next page."""

    items: list[Item]
    next: str | None


class FullListOut(Schema, Generic[Item]):
    """A list without pages."""

    items: list[Item]
    next: str | None = Field(None, description="Always null: the list is returned in full.")


def list_rows(rows: QuerySet[Any], time_field: str, query: PageIn) -> dict[str, object]:
    """Return a page of the rows, newest first by `time_field`, as the fields of `ListOut`."""
    items, next_cursor = paginate(rows, time_field, query)
    return {"items": items, "next": next_cursor}


def explain_recalled(found: Sequence[Found | Recalled], person: User) -> list[dict[str, Any]]:
    """Return the recalled memories as `render_recalled`, each with `why`, a sentence in the person's language."""
    with person.use_language():
        return [
            {**rendered, "why": describe_reasons(hit.reasons, hit.memory.text)}
            for rendered, hit in zip(render_recalled(found), found, strict=True)
        ]


def describe_form(
    required: list[str], json: dict[str, Any] | None = None, **fields: dict[str, str]
) -> dict[str, Any]:
    """Return the OpenAPI `requestBody` of a form with `fields`, or of a JSON body with the schema `json` as well."""
    schema = {"type": "object", "properties": fields} | ({"required": required} if required else {})
    content = {"application/json": {"schema": json}} if json else {}
    content |= {"multipart/form-data": {"schema": schema}}
    return {"requestBody": {"required": True, "content": content}}


def describe_choices(choices: type[TextChoices]) -> WithJsonSchema:
    """Return the OpenAPI schema of the choices, in place of a component of the contract.

    Components have the bare names of their classes: of two classes with one name, both would get the schema of one.
    """
    return WithJsonSchema({"enum": choices.values, "type": "string"})


class EndedEarlyOut(Schema):
    id: UUID = Field(
        description="The reply's id. The reply can be retried, and also continued unless its code is "
        "answer_loop."
    )
    state: str
    code: str | None


class MessageOut(Schema):
    id: UUID
    role: str = Field(description="user, assistant (the companion), or system (a notice from Kith itself).")
    text: str
    client_id: str | None
    quoted: UUID | None = Field(description="The message that this one quotes.")
    said_at: datetime
    is_hidden: bool
    is_rehearsed: bool
    model: str = Field(
        description="The model that wrote the message; empty if no model did, or if the message is older "
        "than this field."
    )
    is_stand_in: bool = Field(
        description="Whether another model wrote the message because the companion's own model was "
        "unavailable."
    )
    ended_early: EndedEarlyOut | None = Field(
        None,
        description="Only in the history: the reply that produced this answer, if that reply ended in any "
        "state other than done.",
    )


class MessagesOut(ListOut[MessageOut]):
    pass


class FoundOut(Schema):
    id: UUID
    kind: str
    text: str
    happened_at: datetime
    score: float
    reasons: dict[str, Any]
    why: str
