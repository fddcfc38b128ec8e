"""The base class of tools, the context in which they are called, and the error with which they refuse."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol
from uuid import UUID

from django.utils.functional import Promise
from pydantic import BaseModel

from accounts.limits.usage import Payer
from companions.conversations.messages import Spoken
from companions.models import Companion, Message, Waking
from companions.prompting.history import Line
from memory.recall.recall import Found

MAX_NAMED = 5  # candidates that are listed if a call's words are ambiguous


class ToolError(Exception):
    """A model's call cannot be carried out. The message tells the model why, so that it can correct the call."""


def refuse_several(texts: Sequence[str]) -> None:
    """Raise ToolError, listing the first MAX_NAMED texts, if the words of a call match more than one."""
    if len(texts) > 1:
        named = "; ".join(repr(text[:200]) for text in texts[:MAX_NAMED])
        raise ToolError(f"Several have these words. Give more of the one that you mean: {named}")


class ToolContext(Protocol):
    """The turn or waking in which a tool is called: exactly one of `message` and `waking` is set.

    `causes` are the messages that the companion acts upon, `history` the other messages that it is shown, `recalled`
    the memories found for it, and `shown_ids` the ids of all that is in its prompt. `mood` is between -1 and 1.
    """

    companion: Companion
    recalled: list[Found]
    prompt: list[Line]
    shown_ids: set[UUID]
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
        """Return the id of the ModelCall that led to this, or None if it is not known."""
        ...

    @property
    def causes(self) -> list[Message]: ...

    @property
    def verbatim_ids(self) -> list[UUID]:
        """Return the ids of the messages that the prompt shows verbatim."""
        ...

    @property
    def offered_tokens(self) -> int:
        """Return how many tokens the offered tools take."""
        ...

    @property
    def payer(self) -> Payer: ...

    def hold(self) -> None:
        """Lock the companion until the transaction ends, so that no message is saved or deleted meanwhile.

        Raise LostOwnershipError if the turn or waking was taken over by another process, or was ended or deleted.
        """
        ...


class Tool(BaseModel, ABC):
    """A tool: its fields are the arguments, and the docstring of a subclass tells the model what the tool is for.

    Fields named `text`, `new` and `slot` are stored, so the registry refuses secrets in them; `words` is searched for.
    Former names of arguments stay valid as aliases, since a session's history may show them.
    """

    name: ClassVar[str]
    writes: ClassVar[bool] = False  # True: `run` is called in a transaction, with the companion locked
    # True: `run` only reads, and asks a model for an embedding, so no transaction may be open meanwhile.
    asks_model: ClassVar[bool] = False
    in_wakings: ClassVar[bool] = True  # False: only the person may ask for it, so no waking offers it
    # What people read while a reply uses the tool, with the companion's %(name)s, and in the life log afterwards. Only
    # tools about which there is nothing to tell, as `more_tools` and `think`, have no text.
    under_way: ClassVar[str | Promise] = ""
    done: ClassVar[str | Promise] = ""

    def prepare(self, context: ToolContext, now: datetime) -> None:
        """Ask a model for what `run` needs; called before the transaction of `run` is opened."""

    @abstractmethod
    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        """Carry out the call and return its result for the model; raise ToolError if it cannot be carried out."""

    @classmethod
    def offer(cls) -> dict[str, Any]:
        """Return the tool's description and JSON schema in the form of the chat protocol."""
        schema = cls.model_json_schema()
        del schema["title"]
        description = schema.pop("description", "")
        schema["properties"] = {
            name: _drop_bounds(field) for name, field in schema.get("properties", {}).items()
        }
        return {
            "type": "function",
            "function": {"name": cls.name, "description": description, "parameters": schema},
        }


BOUNDS = {"minLength", "maxLength", "minimum", "maximum", "maxItems", "default", "title", "anyOf"}


def _drop_bounds(field: dict[str, Any]) -> dict[str, Any]:
    """Return the field's schema without BOUNDS, to save tokens in each prompt: a call out of bounds returns an error.

    For an optional field, `anyOf` is replaced by the schema of its type.
    """
    given: dict[str, Any] = next((kind for kind in field.get("anyOf", []) if kind.get("type") != "null"), {})
    return {name: value for name, value in {**field, **given}.items() if name not in BOUNDS}
