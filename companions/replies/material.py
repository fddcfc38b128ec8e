"""A reply on its way: what it is made from, from the message to the prompt."""

from dataclasses import dataclass, field
from uuid import UUID

from accounts.usage import Payer
from companions.history import Spoken
from companions.in_mind import NOTHING, Mind
from companions.models import Companion, Message, Reply
from companions.prompts import Facts, Line
from companions.replies.holding import hold_claimed
from companions.replies.using import NOTHING_CALLED, CalledToMind
from memory.recall import Found


@dataclass(slots=True)
class Turn:
    """A reply on its way, with what it is made from."""

    reply: Reply
    companion: Companion
    message: Message
    history: list[Spoken] = field(default_factory=list)
    summary: str = ""
    summarised: list[UUID] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    prompt: list[Line] = field(default_factory=list)
    shown: set[UUID] = field(default_factory=set)
    mind: Mind = NOTHING
    facts: Facts = field(init=False)
    called: CalledToMind = NOTHING_CALLED
    waking: None = None
    call_id: None = None

    @property
    def mood(self) -> float:
        """What its companion feels, as far as it came to mind: -1 to 1."""
        return self.called.mood

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
