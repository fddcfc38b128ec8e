"""Turns of a conversation as pages show them: a message, its answer, and a reply that is open or ended early."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import NamedTuple
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
from companions.life.wakings.reminders import asks_for_reminder
from companions.models import Closing, Conversation, ForgetProposal, Message, Reply, Session, Timer, Waking
from memory.models import Recalled, Retraction
from memory.recall.ranking import LIKELY
from memory.recall.traits import tells_something, terms

PAGE = 50
RUN, MAX_RUN = 500, 3000  # messages that are loaded at once, and in all, where many reminders are folded


class Folded(NamedTuple):
    """What a reminder that is shown stands for: how many with itself, since when, and the ids of the others."""

    number: int = 1
    since: datetime | None = None
    ids: tuple[UUID, ...] = ()


@dataclass(slots=True)
class TranscriptTurn:
    """A message with its answer; either may be missing, e.g. for a greeting or an imported line."""

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
        """Return the session that ends with this turn, if it has a title or its closing is waiting, or else None."""
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
        """Return the reply that waits or is being made, if any; it is shown instead of an earlier answer."""
        reply = self.newest_reply
        return reply if reply and reply.is_open else None

    @property
    def ended_early(self) -> Reply | None:
        """Return the newest reply if it ended in another state than done, or else None.

        If the page begins with an answer, without its message, that is the reply that made the answer.
        """
        reply = self.newest_reply or self.made_by
        return reply if reply and not reply.is_open and reply.state != Reply.State.DONE else None

    @property
    def shown_answer(self) -> Message | None:
        return None if self.open_reply else self.answer

    @property
    def made_by(self) -> Reply | None:
        """Return the reply that made the answer, or None if there is none, as for greetings and imports."""
        return getattr(self.answer, "made_by", None) if self.answer else None

    @property
    def retractions(self) -> list[Retraction]:
        """Return the answer's retractions in order, without those undone or deleted."""
        return list(self.made_by.retractions.all()) if self.made_by else []

    @property
    def forget_proposals(self) -> list[ForgetProposal]:
        """Return the answer's open proposals to forget."""
        proposals = self.made_by.forget_proposals.all() if self.made_by else []
        return [proposal for proposal in proposals if proposal.state == ForgetProposal.State.OPEN]

    @property
    def timers(self) -> list[Timer]:
        """Return the active timers that were set in answer to the message, by whomever."""
        return [timer for timer in self._timers if timer.state == Timer.State.ACTIVE]

    @property
    def lacks_timer(self) -> bool:
        """Return whether the message asked for a reminder and was answered, but no timer was set."""
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
        """Return the recalled memories that bear on the answer."""
        recalls = self.made_by.recalls.all() if self.made_by else []
        found = [recalled for recall in recalls for recalled in recall.found.all()]
        return choose_bearing(found, self.answer.text if self.answer else "")


def choose_bearing(found: Sequence[Recalled], answer: str) -> list[Recalled]:
    """Return the recalled memories that bear on the answer, each once: a memory is a likely match for the message, or
    shares words with the answer. Those that share most words come first, then those with the higher score.
    """
    by_memory = {
        recalled.memory_id: recalled for recalled in sorted(found, key=lambda recalled: recalled.score)
    }
    said = set(filter(tells_something, terms(answer))) if by_memory else set()
    used = {id: len(said.intersection(terms(recalled.memory.text))) for id, recalled in by_memory.items()}
    bearing = [
        recalled
        for id, recalled in by_memory.items()
        if used[id] or recalled.reasons.get("bearing", 0) >= LIKELY
    ]
    return sorted(bearing, key=lambda recalled: (-used[recalled.memory_id], -recalled.score))


def with_replies(messages: list[Message]) -> list[Message]:
    """Prefetch all that a transcript shows of the messages, and return them: thirteen queries.

    That is: their sessions with their endings, the replies to them (`answers`, newest first), the replies that made
    them with recalled memories, retractions and proposals to forget, timers, recordings, attachments, bookmarks, quoted
    messages, and `alternatives`.
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
    related = (sessions, replies, recalled, retracted, proposals, timers)
    prefetch_related_objects(messages, *related, "recording", "attachments", "bookmark", "quoted")
    alternatives = load_alternatives(messages)
    for message in messages:
        message.alternatives = alternatives.get(message.pk)  # type: ignore[attr-defined]
    return messages


def _with_endings(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """Add to sessions their diary entry, waiting `closing`, and the id of the message that ends them (`last_said`)."""
    waiting = FilteredRelation("closings", condition=Q(closings__state=Closing.State.WAITING))
    until = Coalesce(OuterRef("closing__until_at"), Value(datetime.max.replace(tzinfo=UTC)))
    said = Message.objects.filter(session=OuterRef("pk"), said_at__lte=until)
    last = said.order_by("-said_at", "-id").values("pk")[:1]
    found = sessions.annotate(closing=waiting, last_said=Subquery(last))
    return found.select_related("closing", "diary_entry")  # type: ignore[misc]  # a filtered relation


@dataclass(frozen=True, slots=True)
class TranscriptPage:
    """A page of turns, oldest first; `earlier` and `later` are its first and last message if there are more pages."""

    turns: list[TranscriptTurn]
    earlier: UUID | None = None
    later: UUID | None = None

    def find_turn(self, message: Message | None) -> UUID | None:
        """Return the id of the turn that shows the message or stands for it (`fold_reminders`), or None."""
        if message is None:
            return None
        known = ((turn.id, getattr(turn.first, "folded", Folded()).ids) for turn in self.turns)
        return next((id for id, folded_ids in known if message.pk in (id, *folded_ids)), None)


def load_before(conversation: Conversation, before: UUID | None) -> TranscriptPage:
    """Return the page of turns before the message `before`, or the newest page for None."""
    messages, earlier = _load_whole_run(load_page, conversation, before, PAGE)
    return TranscriptPage(turns_of(with_replies(fold_reminders(messages[::-1]))), earlier)


def load_after(conversation: Conversation, after: UUID) -> TranscriptPage:
    """Return the page of turns after the message `after`."""
    messages, later = _load_whole_run(load_page_after, conversation, after, PAGE)
    return TranscriptPage(turns_of(with_replies(fold_reminders(messages))), later=later)


def load_around(conversation: Conversation, message: Message) -> TranscriptPage:
    """Return a page of turns around the message, with its own."""
    before, earlier = _load_whole_run(load_page, conversation, message.pk, PAGE // 2)
    after, later = _load_whole_run(load_page_after, conversation, message.pk, PAGE // 2)
    messages = fold_reminders([*before[::-1], message, *after], kept=message)
    return TranscriptPage(turns_of(with_replies(messages)), earlier, later)


def _load_whole_run(
    load: Callable[..., tuple[list[Message], UUID | None]],
    conversation: Conversation,
    edge: UUID | None,
    limit: int,
) -> tuple[list[Message], UUID | None]:
    """Return at least `limit` messages from `edge` on and the next edge; what is folded is cut in two after MAX_RUN."""
    messages, onward = load(conversation, edge, limit)
    while onward and messages[-1].is_notice and len(messages) < MAX_RUN:
        more, onward = load(conversation, onward, RUN)
        messages += more
    return messages, onward


def fold_reminders(messages: Sequence[Message], kept: Message | None = None) -> list[Message]:
    """Leave out reminders in Kith's own words that another one of the same timer follows, unless the person has said
    something in between, or it is the one to be `kept`. The one that follows tells of them (`folded`).

    `messages` are in their order, oldest first.
    """
    timers = Prefetch("waking", Waking.objects.only("timer"))  # a waking's prompt is long
    prefetch_related_objects([message for message in messages if message.is_notice], timers)
    shown: list[Message] = []
    latest: dict[UUID | None, Message] = {}
    for message in reversed(messages):
        if message.role == Message.Role.USER:
            latest.clear()
        timer_id = message.waking.timer_id if message.is_notice and message.waking else None
        last = latest.get(timer_id)
        if last and message != kept:
            number, _since, ids = getattr(last, "folded", Folded())
            last.folded = Folded(number + 1, message.said_at, (*ids, message.pk))  # type: ignore[attr-defined]
            continue
        if timer_id:
            latest[timer_id] = message
        shown.append(message)
    return shown[::-1]


def find_start(message: Message) -> UUID:
    """Return the id of the message that begins the turn of `message`."""
    is_answer = message.role == Message.Role.ASSISTANT and not message.waking_id
    parent = message.parent if is_answer else None
    return parent.pk if parent and parent.role == Message.Role.USER else message.pk


def turn_of(message: Message) -> TranscriptTurn:
    """Return the turn that the message begins, with its newest answer, if any."""
    given = Message.objects.filter(parent=message, role=Message.Role.ASSISTANT, waking=None)
    answers = given.order_by("-created_at")[:1]
    messages = [message, *(list(answers) if message.role == Message.Role.USER else [])]
    return turns_of(with_replies(messages))[0]


def turns_of(messages: Sequence[Message]) -> list[TranscriptTurn]:
    """Group messages, oldest first, into turns, and mark the first turn of each day (`begins_day`)."""
    turns: list[TranscriptTurn] = []
    for message in messages:
        if message.role == Message.Role.USER:
            turns.append(TranscriptTurn(message=message))
            continue
        # What a companion says in a waking is no answer, even if a message comes before it.
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
