"""The part of a session that a model reads: what both sides said, in chronological order, without hidden messages."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, tzinfo
from uuid import UUID
from zlib import crc32

from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet

from companions.conversations.messages import SPEAKERS
from companions.models import Companion, ForgetProposal, Message, Reply, Session
from memory.language import pattern_of
from memory.learning.talk import Line, Talk
from memory.models import Memory, Recalled
from memory.recall.query import NOBODY
from providers.selection import Capability, get_provider
from providers.tokens import estimate, split

INTRODUCES_ONESELF = pattern_of("introduces_oneself")
LINE_TOKENS = 20  # for number, time and name of a line
# Of a message: whether it belongs to an exchange in which the person asked to forget something.
ASKS_TO_FORGET = Exists(
    ForgetProposal.objects.filter(Q(reply__message=OuterRef("pk")) | Q(reply__answer=OuterRef("pk")))
)


def select_messages(session: Session, until_at: datetime | None = None) -> QuerySet[Message]:
    """Return the session's messages until `until_at` (default: all) and the answers to them, oldest first."""
    messages = Message.objects.filter(session=session).order_by("said_at", "id")
    if until_at is None:
        return messages
    answers = Message.objects.filter(session=session, made_by__message__said_at__lte=until_at)
    return messages.filter(Q(said_at__lte=until_at) | Q(pk__in=answers.values("pk")))


def select_visible(messages: QuerySet[Message]) -> QuerySet[Message]:
    """Return the messages that a model may see: of user and companion, not hidden, not replaced by another answer, and
    not part of an exchange in which the person asked to forget something.
    """
    spoken = messages.filter(role__in=SPEAKERS, is_hidden=False)
    return spoken.exclude(ASKS_TO_FORGET).exclude(memory__closed_at__isnull=False)


def is_being_answered(session: Session, until_at: datetime | None = None) -> bool:
    """Return whether a reply to one of the session's messages until `until_at` (default: all) is open."""
    waiting = Reply.objects.open().filter(message__session=session)
    return (waiting.filter(message__said_at__lte=until_at) if until_at else waiting).exists()


def stamp(id: UUID, text: str) -> str:
    """Return a fingerprint of a row's id and text."""
    return f"{id} {crc32(text.encode()):08x}"


def fingerprint(messages: Sequence[Message]) -> list[str]:
    """Return fingerprints of the messages' ids, texts and `is_learnt`, to detect changes during a model call."""
    return [
        f"{stamp(message.pk, message.text)} {'learnt' if message.is_learnt else ''}" for message in messages
    ]


def fingerprint_words(messages: Sequence[Message]) -> list[str]:
    """Return fingerprints of the messages' ids and texts."""
    return [stamp(message.pk, message.text) for message in messages]


def measure(messages: Sequence[Message]) -> int:
    """Return about how many tokens the messages take as lines of a prompt."""
    return sum(estimate(message.text) + LINE_TOKENS for message in messages)


def measure_room(*texts: str) -> int:
    """Return how many tokens a prompt has left for messages, beside these texts, rules, known facts and the answer."""
    context = get_provider(Capability.BACKGROUND).context_tokens
    answer: int = max(settings.ANSWER_TOKENS, context // 4)
    left = context - answer - context // 4 - sum(map(estimate, texts))
    return max(left, context // 8)


def take_fitting(messages: Sequence[Message], tokens: int) -> list[Message]:
    """Return the first messages that fit into this many tokens, at least one."""
    kept: list[Message] = []
    for message in messages:
        tokens -= measure([message])
        if kept and tokens < 0:
            break
        kept.append(message)
    return kept


def find_names(companion: Companion) -> dict[str, str]:
    """Return what "user" and "companion" are called; a user whose account has no name is called as they have
    introduced themselves, in a message that something was learnt from, or that is still to be learnt from.

    Otherwise a model asked to learn of "Lin" would not know that she is the user. One query, if there is no name.
    """
    names = companion.names
    if names["user"]:
        return names
    said = select_visible(Message.objects.filter(companion=companion, role=Message.Role.USER))
    behind = said.filter(Q(is_learnt=False) | Q(derived_memories__isnull=False)).order_by("said_at", "pk")
    texts = behind.distinct().values_list("text", flat=True).iterator()  # there may be tens of thousands
    matches = map(INTRODUCES_ONESELF.search, texts)
    match = next(filter(None, matches), None)
    return {**names, "user": match[match.lastindex or 0]} if match else names


def build_talk(
    companion_id: UUID,
    messages: Sequence[Message],
    zone: tzinfo,
    tokens: int,
    names: Mapping[str, str] = NOBODY,
) -> Talk:
    """Return the messages as lines, with times in `zone`; a text longer than `tokens` is cut. Whoever had no name when
    they said it goes by `names`.
    """
    given = _load_given(companion_id, {message.pk for message in messages})
    return Talk(
        [
            Line(
                message_id=message.pk,
                speaker=(speaker := SPEAKERS[Message.Role(message.role)]),
                name=message.author or names.get(speaker, ""),
                text=split(message.text, tokens, 0)[0],
                said_at=message.said_at.astimezone(zone),
                given=tuple(given[message.pk]),
            )
            for message in messages
        ]
    )


def _load_given(companion_id: UUID, ids: Collection[UUID]) -> dict[UUID, list[str]]:
    """Return by message id the texts that its writer was shown: a reply's recalled memories, or what a waking saw."""
    given: dict[UUID, list[str]] = defaultdict(list)
    found = Recalled.objects.of(companion_id).filter(recall__reply__answer__in=ids)
    for id, text in found.values_list("recall__reply__answer", "memory__text"):
        given[id].append(text)
    woken = Message.objects.filter(companion=companion_id, pk__in=ids, waking__isnull=False)
    shown = {id: set(theirs) for id, theirs in woken.values_list("pk", "waking__shown")}
    if every := set().union(*shown.values()):
        memories = Memory.objects.of(companion_id).filter(Q(pk__in=every) | Q(message__in=every))
        rows = list(memories.values_list("pk", "message", "text"))
        for id, theirs in shown.items():
            given[id] += [text for pk, message_id, text in rows if {pk, message_id} & theirs]
    return given
