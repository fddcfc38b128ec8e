"""Turns as pages show them: a message, its answer, and the reply that is being made or came to nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from uuid import UUID

from django.utils import timezone

from companions import history
from companions.models import Conversation, Message, Reply, Session
from memory.models import Recalled, Retraction
from memory.small_talk import tells_something
from memory.terms import terms

PAGE = 50


@dataclass(slots=True)
class Turn:
    """A message with its answer; a greeting or an imported line has only the one of the two."""

    message: Message | None = None
    answer: Message | None = None
    begins_day: bool = False
    begins_session: bool = False

    @property
    def first(self) -> Message:
        first = self.message or self.answer
        assert first is not None  # noqa: S101 (one of the two is always there)
        return first

    @property
    def id(self) -> UUID:
        return self.first.pk

    @property
    def day(self) -> date:
        return timezone.localtime(self.first.said_at).date()

    @property
    def titled_session(self) -> Session | None:
        """The session that begins here, once it has ended and has a title."""
        session = self.first.session
        return session if self.begins_session and session.ended_at and session.title else None

    @property
    def newest_reply(self) -> Reply | None:
        replies: list[Reply] = getattr(self.message, "answers", [])
        return replies[0] if replies else None

    @property
    def open_reply(self) -> Reply | None:
        """The reply that waits or is being made; it takes the place of an earlier answer."""
        reply = self.newest_reply
        return reply if reply and reply.is_open else None

    @property
    def ended_early(self) -> Reply | None:
        """The newest reply where it ended in any other way than done."""
        reply = self.newest_reply
        return reply if reply and not reply.is_open and reply.state != Reply.State.DONE else None

    @property
    def shown_answer(self) -> Message | None:
        return None if self.open_reply else self.answer

    @property
    def made_by(self) -> Reply | None:
        """The reply that the answer was made by; None where it was made by none (a greeting, an import)."""
        return getattr(self.answer, "made_by", None) if self.answer else None

    @property
    def retractions(self) -> list[Retraction]:
        """What the answer closed, in its order, as far as that was neither undone nor deleted."""
        return list(self.made_by.retractions.all()) if self.made_by else []

    @property
    def recalled(self) -> list[Recalled]:
        """What the answer was given to remember, nothing twice; what it made most use of first, then by score."""
        recalls = self.made_by.recalls.all() if self.made_by else []
        found = [one for recall in recalls for one in recall.found.all()]
        by_memory = {one.memory_id: one for one in sorted(found, key=lambda one: one.score)}
        said = set(filter(tells_something, terms(self.answer.text))) if self.answer and by_memory else set()
        return sorted(by_memory.values(), key=lambda one: (-_words_in(one, said), -one.score))


def _words_in(recalled: Recalled, said: set[str]) -> int:
    """Return how many of the telling words of an answer the memory holds."""
    return len(said.intersection(terms(recalled.memory.text))) if said else 0


def page(conversation: Conversation, before: UUID | None) -> tuple[list[Turn], UUID | None]:
    """The turns of the newest messages before that one, oldest first, and where the next page begins; nine queries."""
    messages, following = history.page(conversation, before, PAGE)
    return turns_of(history.with_replies(messages)[::-1]), following


def turn_of(message: Message) -> Turn:
    """The turn that the message begins, as it stands."""
    given = Message.objects.filter(parent=message, role=Message.Role.ASSISTANT, waking=None)
    answers = given.order_by("-created_at")[:1]
    messages = [message, *(answers if message.role == Message.Role.USER else [])]
    return turns_of(history.with_replies(messages))[0]


def turns_of(messages: Sequence[Message]) -> list[Turn]:
    """Messages, oldest first, as turns; the first turn of a day knows that it is, and so does that of a session."""
    turns: list[Turn] = []
    for message in messages:
        if message.role == Message.Role.USER:
            turns.append(Turn(message=message))
        elif turns and _is_answer(message, turns[-1]):
            turns[-1].answer = message
        else:
            turns.append(Turn(answer=message))
    return _with_sessions(_with_days(turns))


def _is_answer(message: Message, turn: Turn) -> bool:
    """What a companion says by itself is no answer, whatever stands before it."""
    if message.waking_id:
        return False
    return turn.answer is None and turn.message is not None and message.parent_id == turn.message.pk


def _with_days(turns: Iterable[Turn]) -> list[Turn]:
    before: date | None = None
    given = []
    for turn in turns:
        turn.begins_day, before = turn.day != before, turn.day
        given.append(turn)
    return given


def _with_sessions(turns: list[Turn]) -> list[Turn]:
    """What came before the first turn is not looked up; whether a session begins there its own time says."""
    before: UUID | None = None
    for turn in turns:
        first, session = turn.first, turn.first.session
        is_first = before is None and (first.parent_id is None or first.said_at <= session.started_at)
        turn.begins_session, before = is_first or before not in (None, session.pk), session.pk
    return turns
