"""Whoever calls a tool: a companion in a turn, or in a waking."""

from collections.abc import Sequence
from typing import Protocol
from uuid import UUID

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
