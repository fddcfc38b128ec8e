"""What a tool is, and who calls it: a name, its arguments, a handler that answers with plain data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from pydantic import BaseModel

from accounts.usage import Payer
from companions.conversations.messages import Spoken
from companions.models import Companion, Message, Waking
from companions.prompting.turn_prompt import Line
from memory.recall.recall import Found


class ToolContext(Protocol):
    """A companion that acts, in answer to a message or in a waking: one of the two is there.

    `causes` are the messages that it acts upon, `history` what else it is shown of the talk, `found` what it was given
    to remember, and `shown` the ids of all that stands in its prompt. `mood` goes from -1 to 1.
    """

    companion: Companion
    found: list[Found]
    prompt: list[Line]
    shown: set[UUID]
    mood: float

    @property
    def history(self) -> Sequence[Message | Spoken]: ...

    @property
    def message(self) -> Message | None: ...

    @property
    def waking(self) -> Waking | None: ...

    @property
    def reply_id(self) -> UUID | None: ...

    @property
    def call_id(self) -> int | None:
        """The model's call that brought it about, where it is known."""
        ...

    @property
    def causes(self) -> list[Message]: ...

    @property
    def given(self) -> list[UUID]:
        """The messages that the prompt shows as they are."""
        ...

    @property
    def payer(self) -> Payer: ...

    def hold(self) -> None:
        """Keep what is said to the companion, and deleted, as it is until the transaction ends.

        Raises where this is not for this process to do any more: another has taken it over, or it was ended or deleted.
        """
        ...


class ToolError(Exception):
    """What a model asked for cannot be done; the sentence says why, so that it can ask otherwise."""


@dataclass(frozen=True, slots=True)
class Tool:
    name: str
    arguments: type[BaseModel]
    handler: Callable[[ToolContext, Any, datetime], dict[str, Any]]

    @property
    def offer(self) -> dict[str, Any]:
        """The tool in the form of the chat protocol."""
        schema = _lean(self.arguments.model_json_schema())
        description = schema.pop("description", "")
        return {
            "type": "function",
            "function": {"name": self.name, "description": description, "parameters": schema},
        }


SAID_WHEN_WRONG = {"minLength", "maxLength", "minimum", "maximum", "maxItems", "default", "title", "anyOf"}


def _lean(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema without what costs tokens in each prompt: bounds are told where they are overstepped."""
    schema.pop("title", None)
    fields = {name: _lean_field(field) for name, field in schema.get("properties", {}).items()}
    return {**schema, "properties": fields}


def _lean_field(field: dict[str, Any]) -> dict[str, Any]:
    """Of a field that may be left out, the kind that it has where it is not."""
    given: dict[str, Any] = next((one for one in field.get("anyOf", []) if one.get("type") != "null"), {})
    return {name: value for name, value in {**field, **given}.items() if name not in SAID_WHEN_WRONG}
