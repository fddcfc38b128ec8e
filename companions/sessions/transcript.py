"""What of a session is put before a model: what both sides said, in the order of time, without what is hidden."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, tzinfo
from uuid import UUID
from zlib import crc32

from django.conf import settings
from django.db.models import Q, QuerySet

from companions.conversations.messages import SPEAKERS
from companions.models import Message, Reply, Session
from memory.learning.talk import Line, Talk
from memory.models import Memory, Recalled
from providers.tokens import estimate, split

MARKS_TOKENS = 20  # number, time and name of a line


def said(session: Session, until_at: datetime | None = None) -> QuerySet[Message]:
    """All that was said in the session until then, and what was answered to that, oldest first."""
    messages = Message.objects.filter(session=session).order_by("said_at", "id")
    if until_at is None:
        return messages
    answers = Message.objects.filter(session=session, made_by__message__said_at__lte=until_at)
    return messages.filter(Q(said_at__lte=until_at) | Q(pk__in=answers.values("pk")))


def told(messages: QuerySet[Message]) -> QuerySet[Message]:
    """Those that a model may see: no rules, nothing hidden, no answer that another one has replaced."""
    spoken = messages.filter(role__in=SPEAKERS, is_hidden=False)
    return spoken.exclude(memory__closed_at__isnull=False)


def is_being_answered(session: Session, until_at: datetime | None = None) -> bool:
    """Whether a reply to what was said there until then is under way, or waits."""
    waiting = Reply.objects.filter(message__session=session, state__in=Reply.OPEN)
    return (waiting.filter(message__said_at__lte=until_at) if until_at else waiting).exists()


def marks(messages: Sequence[Message]) -> list[str]:
    """What is to stay as it is while a model thinks about the messages: which they are, what they say, what is learnt."""
    return [
        f"{one.pk} {crc32(one.text.encode()):08x} {'learnt' if one.is_learnt else ''}" for one in messages
    ]


def fitting(messages: Sequence[Message], tokens: int) -> list[Message]:
    """The first of the messages that fit, but one at least."""
    kept: list[Message] = []
    for one in messages:
        tokens -= _tokens(one.text)
        if kept and tokens < 0:
            break
        kept.append(one)
    return kept


def talk_of(companion_id: UUID, messages: Sequence[Message], zone: tzinfo, tokens: int) -> Talk:
    """The messages as lines, in the user's zone; a text that alone is longer than all may be is cut."""
    given = _given(companion_id, {one.pk for one in messages})
    return Talk(
        [
            Line(
                message_id=one.pk,
                speaker=SPEAKERS[Message.Role(one.role)],
                name=one.author,
                text=_cut(one.text, tokens),
                said_at=one.said_at.astimezone(zone),
                given=tuple(given[one.pk]),
            )
            for one in messages
        ]
    )


def room(*texts: str) -> int:
    """How many tokens are left for what was said, beside such texts, the rules, what is known, and the answer."""
    context: int = settings.CONTEXT_TOKENS
    answer: int = max(settings.ANSWER_TOKENS, context // 4)
    left = context - answer - context // 4 - sum(map(estimate, texts))
    return max(left, context // 8)


def size(messages: Sequence[Message]) -> int:
    """How many tokens the messages take as lines, about."""
    return sum(_tokens(one.text) for one in messages)


def _given(companion_id: UUID, ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """What the replies that became these messages were given to remember."""
    found = Recalled.objects.of(companion_id).filter(recall__reply__answer__in=ids)
    given: dict[UUID, list[str]] = defaultdict(list)
    for id, text in found.values_list("recall__reply__answer", "memory__text"):
        given[id].append(text)
    for id, texts in _shown_in_wakings(companion_id, ids).items():
        given[id] += texts
    return given


def _shown_in_wakings(companion_id: UUID, ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """What the wakings were shown, of memories and of what was said, in which these messages were written."""
    woken = Message.objects.filter(companion=companion_id, pk__in=ids, waking__isnull=False)
    shown = {id: set(theirs) for id, theirs in woken.values_list("pk", "waking__shown")}
    every = set().union(*shown.values())
    if not every:
        return {}
    there = Memory.objects.of(companion_id).filter(Q(pk__in=every) | Q(message__in=every))
    rows = list(there.values_list("pk", "message", "text"))
    return {id: [text for pk, said, text in rows if {pk, said} & theirs] for id, theirs in shown.items()}


def _tokens(text: str) -> int:
    return estimate(text) + MARKS_TOKENS


def _cut(text: str, tokens: int) -> str:
    return split(text, tokens, 0)[0]
