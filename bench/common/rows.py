"""The people, companions and memories that the bench needs."""

import random
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from accounts.models import Token, User
from bench.common.sentences import sentence
from bench.common.vectors import Owner, store, turned
from companions.conversations.messages import say_all
from companions.creation import create
from companions.models import Companion, Message, Session
from memory.models import Embedding, Memory

PERSONA = (
    "Juno is a patient companion with a dry sense of humour. She likes the sea, old radios and short answers."
)
MESSAGES_A_SESSION = 40


@dataclass(frozen=True)
class Person:
    """Somebody with a companion, and the way in."""

    companion: Companion
    path: str
    header: str


def person(name: str) -> Person:
    """Create a person with a companion and a token, whom the gate always lets in."""
    user = User.objects.create_user(
        f"{name}@example.org",
        name=name.title(),
        time_zone="Europe/Berlin",
        messages_per_minute=1_000_000,
        tokens_per_day=2_000_000_000,
    )
    _, plaintext = Token.objects.issue(user, "bench")
    companion = create(user, name="Juno", persona=PERSONA, greeting="", tint=40, now=timezone.now())
    return Person(companion, f"/ws/companions/{companion.pk}/", f"Authorization: Bearer {plaintext}")


def lend_vectors(companion: Companion, chance: np.random.Generator, lender: Companion | None = None) -> int:
    """Give memories without an embedding those of others, or of a lender's, each turned a little; return how many."""
    have = list(Embedding.objects.filter(companion=lender or companion))
    vectors = np.array([embedding.vector for embedding in have], dtype=np.float32)
    lacking = Memory.objects.of(companion.pk).filter(embeddings=None).values_list("pk", flat=True)
    owners = [Owner(companion.pk, pk) for pk in lacking]
    store(owners, have[0].space_id, turned(vectors, len(owners), chance))
    return len(owners)


def count_anew() -> None:
    """Let Postgres know how much there is now, as its autovacuum would within a minute."""
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


@transaction.atomic
def live_through(companion: Companion, count: int, chance: random.Random) -> None:
    """Have the companion talk for months: `count` messages, an hour apart, in closed sessions, each with its memory."""
    now = timezone.now()
    sessions = [
        _session(companion, now - timedelta(hours=count - n)) for n in range(0, count, MESSAGES_A_SESSION)
    ]
    Session.objects.bulk_create(sessions)
    said: list[Message] = []
    for n in range(count):
        session = sessions[n // MESSAGES_A_SESSION]
        said.append(_message(session, said[-1] if said else None, now - timedelta(hours=count - n), chance))
    say_all(companion, said, now)
    companion.conversation.head = said[-1]
    companion.conversation.save(update_fields=["head"])


def _session(companion: Companion, began: datetime) -> Session:
    ended = began + timedelta(hours=MESSAGES_A_SESSION)
    return Session(companion=companion, conversation=companion.conversation, started_at=began, ended_at=ended)


def _message(session: Session, parent: Message | None, at: datetime, chance: random.Random) -> Message:
    is_answer = parent is not None and parent.role == Message.Role.USER
    return Message(
        companion=session.companion,
        conversation=session.conversation,
        session=session,
        parent=parent,
        role=Message.Role.ASSISTANT if is_answer else Message.Role.USER,
        text=sentence(chance),
        said_at=at,
    )
