"""What a tool is, who calls it, and how it refuses."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, ClassVar, Protocol
from uuid import UUID

from pydantic import BaseModel

from accounts.usage import Payer
from companions.conversations.messages import Spoken
from companions.models import Companion, Message, Waking
from companions.prompting.tool_lines import Line
from memory.recall.recall import Found

MAX_NAMED = 5  # of several that are meant by the same words


class ToolError(Exception):
    """What a model asked for cannot be done; the sentence says why, so that it can ask otherwise."""


def refuse_several(texts: Sequence[str]) -> None:
    """Raise ToolError where the words of a call mean more than one of what is kept; it names the first of them."""
    if len(texts) > 1:
        named = "; ".join(repr(text[:200]) for text in texts[:MAX_NAMED])
        raise ToolError(f"Several have these words. Give more of the one that you mean: {named}")


class ToolContext(Protocol):
    """A companion that acts, in answer to a message or in a waking: one of the two is there.

    `causes` are the messages that it acts upon, `history` what else it is shown of the talk, `recalled` what came
    to its mind, and `shown_ids` the ids of all that stands in its prompt. `mood` goes from -1 to 1.
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
        """The model's call that brought it about, where it is known."""
        ...

    @property
    def causes(self) -> list[Message]: ...

    @property
    def verbatim_ids(self) -> list[UUID]:
        """The messages that the prompt shows as they are."""
        ...

    @property
    def offered_tokens(self) -> int:
        """What the tools take that are offered to it."""
        ...

    @property
    def payer(self) -> Payer: ...

    def hold(self) -> None:
        """Lock the companion until the transaction ends: nothing is said to it or deleted meanwhile.

        Raise LostOwnershipError where another process has taken the work over, or it was ended or deleted.
        """
        ...


class Tool(BaseModel, ABC):
    """A tool: its fields are the arguments, its docstring tells the model what it is for.

    What stands in `text`, `new` or `slot` is to be kept: the registry refuses secrets in it. What is looked for stands in
    `words`. Arguments still take the names that they had: a session's history may show those.
    """

    name: ClassVar[str]
    writes: ClassVar[bool] = False  # it runs in one transaction, with the companion held
    # It asks a model for a vector: no transaction may be open meanwhile, and it only looks.
    asks_model: ClassVar[bool] = False
    in_wakings: ClassVar[bool] = True  # False where the person must have asked for it in the talk

    def prepare(self, context: ToolContext, now: datetime) -> None:
        """Ask a model for what it needs, before the transaction in which it runs is opened."""

    @abstractmethod
    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        """Do it; return what the model is told. ToolError where it cannot be done."""

    @classmethod
    def offer(cls) -> dict[str, Any]:
        """Return the tool in the form of the chat protocol."""
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
    """Return the field without what costs tokens in each prompt: bounds are told where they are overstepped.

    Of one that may be left out, its type where it is not.
    """
    given: dict[str, Any] = next((kind for kind in field.get("anyOf", []) if kind.get("type") != "null"), {})
    return {name: value for name, value in {**field, **given}.items() if name not in BOUNDS}
