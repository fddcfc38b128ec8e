"""A reply on its way: what it is made from, from the message to the prompt."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from django.db.models import Model

from accounts.usage import Payer
from companions.history import Spoken
from companions.in_mind import NOTHING, Mind
from companions.last_time import LastTime
from companions.models import Companion, Message, Reply
from companions.prompts import Facts, Line
from companions.replies.holding import hold_claimed
from memory.origins import NOWHERE, Origins
from memory.recall import Found


@dataclass(slots=True)
class Turn:
    """A reply on its way, with what it is made from.

    `known` are the memories of the messages that the prompt shows anyway; `origins` tell where those that were `found`
    come from; `mood` goes from -1 to 1; `rows` wait to be written.
    """

    reply: Reply
    companion: Companion
    message: Message
    history: list[Spoken] = field(default_factory=list)
    summary: str = ""
    summarised: list[UUID] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    origins: Origins = NOWHERE
    last_time: LastTime | None = None
    prompt: list[Line] = field(default_factory=list)
    shown: set[UUID] = field(default_factory=set)
    mind: Mind = NOTHING
    facts: Facts = field(init=False)
    known: Collection[UUID] = ()
    mood: float = 0.0
    rows: Sequence[Model] = ()
    waking: None = None
    call_id: None = None

    @property
    def whose(self) -> str:
        """Return the person's name in `accounts.places`."""
        return f"user:{self.companion.user_id}"

    @property
    def given(self) -> list[UUID]:
        """The messages that the prompt shows as they are."""
        return [self.message.pk, *(one.pk for one in self.history)]

    @property
    def payer(self) -> Payer:
        return Payer(self.companion.user_id, self.companion.pk, self.reply.pk)

    @property
    def reply_id(self) -> UUID:
        return self.reply.pk

    @property
    def causes(self) -> list[Message]:
        """What it acts upon."""
        return [self.message]

    def hold(self) -> None:
        """Keep all as it is until the transaction ends; TurnOverError."""
        hold_claimed(self.reply)
