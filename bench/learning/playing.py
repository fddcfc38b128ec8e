"""One talk of the corpus, played: said in a session that ends, learnt from, and looked at."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from django.db import transaction

from accounts.models import User
from bench.learning.corpus_files import Talk
from companions.conversations.messages import open_session, say_all
from companions.creation import create
from companions.models import Closing, Companion, Conversation, Message
from companions.prompting.turn_prompt import UNSURE
from companions.sessions import closing
from companions.sessions.requests import close
from memory.embedding import embed_waiting
from memory.models import DiaryEntry, Learning, Memory, Revision
from memory.store import keep_fact
from tests.fixtures.clock import clock_at

NOON = timedelta(hours=12)
MANY = 2_000_000_000


@dataclass
class Played:
    """What became of a talk: an outcome and reason for each entry, the places of those that are kept as unsure, the
    sentences kept of the diary and of self-concept and profile, and the numbers of the known memories that are closed.
    """

    talk: Talk
    outcomes: list[tuple[str, str]] = field(default_factory=list)
    unsure: set[int] = field(default_factory=set)
    diary: set[str] = field(default_factory=set)
    closed: set[int] = field(default_factory=set)
    understood: set[str] = field(default_factory=set)


def play(talk: Talk) -> Played:
    """Say the talk to a new companion, end its session, and return what came of it."""
    companion = _begin(talk)
    known = [_remember(companion, entry) for entry in talk.known]
    embed_waiting(companion.pk)
    _say(companion, talk)
    now = talk.at(talk.lines[-1]) + timedelta(hours=9)
    job = close(companion, now)
    closing.run(Closing.objects.get(job=job).pk, clock_at(now))
    if not Closing.objects.filter(job=job, state=Closing.State.DONE).exists():
        raise SystemExit(f"{talk.id}: {Closing.objects.get(job=job).error}")
    return _look(companion, talk, known)


def _begin(talk: Talk) -> Companion:
    user = User.objects.create_user(
        f"{Companion.objects.count()}@example.org",
        name=talk.user,
        time_zone="UTC",
        messages_per_minute=MANY,
        tokens_per_day=MANY,
    )
    earlier = [datetime.fromisoformat(known["day"]) for known in talk.known]
    began = min([*earlier, datetime.fromisoformat(talk.lines[0]["at"])]).replace(tzinfo=UTC)
    return create(user, name=talk.companion, persona="", greeting="", tint=40, now=began - NOON)


def _remember(companion: Companion, known: dict[str, str]) -> Memory:
    at = datetime.fromisoformat(known["day"]).replace(tzinfo=UTC) + NOON
    memory = keep_fact(companion.pk, known["text"], at, at)
    memory.kind, memory.quotes = known["kind"], [{"message": "", "text": known.get("quote", "")}]
    memory.save(update_fields=["kind", "quotes"])
    return memory


def _say(companion: Companion, talk: Talk) -> None:
    conversation = Conversation.objects.get(companion=companion)
    session, parent, messages = open_session(conversation, talk.at(talk.lines[0])), conversation.head_id, []
    before = datetime.min.replace(tzinfo=UTC)
    for line in talk.lines:
        is_users = line["by"] == "user"
        before = max(talk.at(line), before + timedelta(seconds=1))
        message = Message(
            companion=companion,
            conversation=conversation,
            session=session,
            parent_id=parent,
            role=Message.Role.USER if is_users else Message.Role.ASSISTANT,
            author=talk.user if is_users else talk.companion,
            text=line["text"],
            said_at=before,
        )
        parent = message.pk
        messages.append(message)
    with transaction.atomic():
        say_all(companion, messages, messages[-1].said_at)
        Conversation.objects.filter(pk=conversation.pk).update(head=parent)


def _look(companion: Companion, talk: Talk, known: list[Memory]) -> Played:
    learning = Learning.objects.filter(companion=companion).first()
    verdicts = learning.verdicts if learning else []
    entries = [verdict for verdict in verdicts if verdict["reason"] != "contradiction"]
    outcomes = [(verdict["outcome"], verdict["reason"]) for verdict in entries]
    doubtful = Memory.objects.of(companion.pk).filter(confidence__lt=UNSURE)
    ids = {str(pk) for pk in doubtful.values_list("pk", flat=True)}
    open_ids = set(Memory.objects.of(companion.pk).open().values_list("pk", flat=True))
    return Played(
        talk,
        outcomes or [("stopped", "skipped")] * len(talk.entries),
        {place for place, verdict in enumerate(entries) if verdict["memory"] in ids},
        {
            sentence["text"]
            for entry in DiaryEntry.objects.filter(companion=companion)
            for sentence in entry.sentences
        },
        {number for number, memory in enumerate(known, start=1) if memory.pk not in open_ids},
        {
            sentence["text"]
            for revision in Revision.objects.filter(companion=companion)
            for sentence in revision.sentences
        },
    )
