"""Turns as pages show them: a message, its answer, and the reply that is being made or came to nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from uuid import UUID

from django.db.models import (
    FilteredRelation,
    OuterRef,
    Prefetch,
    Q,
    QuerySet,
    Subquery,
    Value,
    prefetch_related_objects,
)
from django.db.models.functions import Coalesce
from django.utils import timezone

from companions.branches.alternatives import load_alternatives
from companions.conversations.messages import load_page, load_page_after
from companions.life.reminders import asks_for_reminder
from companions.models import Closing, Conversation, ForgetProposal, Message, Reply, Session, Timer
from memory.models import Recalled, Retraction
from memory.recall.ranking import LIKELY
from memory.recall.traits import tells_something, terms

PAGE = 50


@dataclass(slots=True)
class TranscriptTurn:
    """A message with its answer; a greeting or an imported line has only the one of the two."""

    message: Message | None = None
    answer: Message | None = None
    begins_day: bool = False

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
    def ended_session(self) -> Session | None:
        """The session whose last word this is, once it has ended and has a title, or while its diary is written."""
        session = self.first.session
        said = [message.pk for message in (self.message, self.answer) if message]
        is_shown = (session.ended_at and session.title) or hasattr(session, "closing")
        return session if is_shown and session.last_said in said else None  # type: ignore[attr-defined]

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
        """The newest reply where it ended in any other way than done; on a page that begins with an answer, its own."""
        reply = self.newest_reply or self.made_by
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
    def forget_proposals(self) -> list[ForgetProposal]:
        """What the answer proposed to forget, as long as its person has not decided."""
        proposals = self.made_by.forget_proposals.all() if self.made_by else []
        return [proposal for proposal in proposals if proposal.state == ForgetProposal.State.OPEN]

    @property
    def timers(self) -> list[Timer]:
        """The timers that were set in answer to the message, by whomever, as far as they still run."""
        return [timer for timer in self._timers if timer.state == Timer.State.ACTIVE]

    @property
    def lacks_timer(self) -> bool:
        """Whether a reminder was asked for and none was set: whatever the answer says, nothing will come."""
        reply = self.made_by
        is_answered = self.message is not None and reply is not None and reply.state == Reply.State.DONE
        return bool(
            is_answered and not self._timers and self.message and asks_for_reminder(self.message.text)
        )

    @property
    def _timers(self) -> list[Timer]:
        return list(self.message.timers.all()) if self.message else []

    @property
    def recalled(self) -> list[Recalled]:
        """What the answer was given to remember and that bears on it."""
        recalls = self.made_by.recalls.all() if self.made_by else []
        found = [recalled for recall in recalls for recalled in recall.found.all()]
        return choose_bearing(found, self.answer.text if self.answer else "")


def choose_bearing(found: Sequence[Recalled], answer: str) -> list[Recalled]:
    """Return what bears on the answer, nothing twice: the message brought it to mind, or the answer takes it up. What it
    made most use of comes first, then by score.
    """
    by_memory = {
        recalled.memory_id: recalled for recalled in sorted(found, key=lambda recalled: recalled.score)
    }
    said = set(filter(tells_something, terms(answer))) if by_memory else set()
    used = {id: len(said.intersection(terms(one.memory.text))) for id, one in by_memory.items()}
    bearing = [
        recalled
        for id, recalled in by_memory.items()
        if used[id] or recalled.reasons.get("bearing", 0) >= LIKELY
    ]
    return sorted(bearing, key=lambda recalled: (-used[recalled.memory_id], -recalled.score))


def with_replies(messages: list[Message]) -> list[Message]:
    """Give the messages their sessions with how those ended, the replies that they were answered by, newest first, what
    made them with what that closed or proposed to forget, the timers that it set, how they sounded, what came with them,
    their bookmarks, what they quote, and what was said in their place: thirteen queries.
    """
    replies = Prefetch("replies", Reply.objects.order_by("-created_at"), to_attr="answers")
    sessions = Prefetch("session", _with_endings(Session.objects.all()))
    retractions = Retraction.objects.select_related("memory__replaced_by")
    retracted = Prefetch(
        "made_by__retractions", retractions.defer("memory__entry", "memory__replaced_by__entry")
    )
    recalled = "made_by__recalls__found__memory"
    proposals = Prefetch(
        "made_by__forget_proposals", ForgetProposal.objects.select_related("companion__user")
    )
    timers = Prefetch("timers", Timer.objects.order_by("due_at"))
    prefetch_related_objects(
        messages,
        sessions,
        replies,
        recalled,
        retracted,
        proposals,
        timers,
        "recording",
        "attachments",
        "bookmark",
        "quoted",
    )
    alternatives = load_alternatives(messages)
    for message in messages:
        message.alternatives = alternatives.get(message.pk)  # type: ignore[attr-defined]
    return messages


def _with_endings(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Give sessions their diary entries, their `closing` as long as it waits, and the last message that they end with."""
    waiting = FilteredRelation("closings", condition=Q(closings__state=Closing.State.WAITING))
    until = Coalesce(OuterRef("closing__until_at"), Value(datetime.max.replace(tzinfo=UTC)))
    said = Message.objects.filter(session=OuterRef("pk"), said_at__lte=until)
    last = said.order_by("-said_at", "-id").values("pk")[:1]
    found = sessions.annotate(closing=waiting, last_said=Subquery(last))
    return found.select_related("closing", "diary_entry")  # type: ignore[misc]  # a filtered relation


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """A stretch of the talk, oldest first; `earlier` and `later` are its first and last message where more is there."""

    turns: list[TranscriptTurn]
    earlier: UUID | None = None
    later: UUID | None = None


def load_before(conversation: Conversation, before: UUID | None) -> TranscriptPage:
    """Return the turns of the messages before that one; the newest for None."""
    messages, earlier = load_page(conversation, before, PAGE)
    return TranscriptPage(turns_of(with_replies(messages)[::-1]), earlier)


def load_after(conversation: Conversation, after: UUID) -> TranscriptPage:
    """Return the turns of the messages after that one."""
    messages, later = load_page_after(conversation, after, PAGE)
    return TranscriptPage(turns_of(with_replies(messages)), later=later)


def load_around(conversation: Conversation, message: Message) -> TranscriptPage:
    """Return the turns around that message, which is one of them."""
    before, earlier = load_page(conversation, message.pk, PAGE // 2)
    after, later = load_page_after(conversation, message.pk, PAGE // 2)
    return TranscriptPage(turns_of(with_replies([*before[::-1], message, *after])), earlier, later)


def find_start(message: Message) -> UUID:
    """Return the id of the message that begins the turn of this one."""
    is_answer = message.role == Message.Role.ASSISTANT and not message.waking_id
    parent = message.parent if is_answer else None
    return parent.pk if parent and parent.role == Message.Role.USER else message.pk


def turn_of(message: Message) -> TranscriptTurn:
    """Return the turn that the message begins, as it stands."""
    given = Message.objects.filter(parent=message, role=Message.Role.ASSISTANT, waking=None)
    answers = given.order_by("-created_at")[:1]
    messages = [message, *(list(answers) if message.role == Message.Role.USER else [])]
    return turns_of(with_replies(messages))[0]


def turns_of(messages: Sequence[Message]) -> list[TranscriptTurn]:
    """Return messages, oldest first, as turns; the first turn of a day knows that it is."""
    turns: list[TranscriptTurn] = []
    for message in messages:
        if message.role == Message.Role.USER:
            turns.append(TranscriptTurn(message=message))
            continue
        # What a companion says by itself is no answer, whatever stands before it.
        before = turns[-1] if turns and not message.waking_id else None
        if before and before.message and before.answer is None and message.parent_id == before.message.pk:
            before.answer = message
        else:
            turns.append(TranscriptTurn(answer=message))
    earlier: TranscriptTurn | None = None
    for turn in turns:
        turn.begins_day = earlier is None or turn.day != earlier.day
        earlier = turn
    return turns
