"""A session out of which everything was made that Kith makes of a talk, with a marked word in it."""

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from companions.models import Closing, Companion, Message, Session
from memory.core_memory import append_to_block, set_slot, write_block
from memory.learning.diary import ClosedSession, Written, keep_session
from memory.learning.revisions import add_revision
from memory.models import Change, Consolidation, DiaryEntry, Memory, Revision
from memory.models.core_memory import By
from memory.store import keep_fact
from tests.companions import talking
from tests.fixtures.people import sign_in

NOW = datetime(2023, 5, 3, 9, tzinfo=UTC)
MARKER = "Zxqvorn"
SECRET = f"My locker opens with {MARKER}."
TEA = "I like green tea more than coffee."
RAIN = "Rainy mornings with tea are the best."
SAID = (SECRET, "I will keep it to myself.", TEA, "So do I.", RAIN, "With a book.")
Told = dict[str, Any]
say = partial(talking.say, at=NOW)


@pytest.fixture
def said(mira: Companion) -> list[Message]:
    """Alice and Mira in turn, of a locker, of tea and of rain."""
    return say(mira, *SAID)


def told(text: str, *messages: Message) -> Told:
    """A sentence that was written from these."""
    return {"text": text, "sources": [str(one.pk) for one in messages]}


def learnt(companion: Companion, text: str, quotes: Iterable[tuple[Message, str]], **fields: Any) -> Memory:
    """A memory that was learnt from these quotes."""
    quotes = list(quotes)
    memory = keep_fact(companion.pk, text, NOW, NOW, [one.pk for one, _ in quotes])
    memory.quotes = [{"message": str(one.pk), "text": words} for one, words in quotes]
    memory.evidence = len(quotes) or 1
    for name, value in fields.items():
        setattr(memory, name, value)
    memory.save()
    return memory


def insight(companion: Companion, text: str, *memories: Memory) -> Memory:
    memory = learnt(companion, text, [], kind="insight")
    memory.drawn_from.set(memories)
    return memory


def diary(
    companion: Companion, session: Session, *sentences: Told, title: str = "Tea and rain"
) -> DiaryEntry:
    """The entry of the session, which has ended with it; profile and self-concept say nothing."""
    Session.objects.filter(pk=session.pk).update(ended_at=NOW, title=title)
    written = Written(
        title=title,
        diary=list(sentences),
        emotion="joy",
        intensity=0.5,
        self_concept=[],
        user_profile=[],
        call_id=None,
    )
    ended = ClosedSession(session_id=session.pk, started_at=NOW, ended_at=NOW, written=written)
    return keep_session(companion.pk, ended, NOW, UTC)


def profile(companion: Companion, *sentences: Told, about: str = "user_profile") -> Revision:
    return add_revision(companion.pk, about, sentences, Revision.By.CLOSING, NOW)


@pytest.fixture
def spread(mira: Companion, said: list[Message]) -> Callable[[], Message]:
    """Puts the marked word into all that is made of a talk; the message that it comes from."""

    def spread() -> Message:
        secret, session = said[0], said[0].session
        fact = learnt(mira, f"Alice opens her locker with {MARKER}.", [(secret, MARKER)])
        both = [(secret, f"opens with {MARKER}"), (said[2], "I like green tea")]
        learnt(mira, f"Alice drinks tea and thinks of {MARKER}.", both)
        thought = insight(mira, f"{MARKER} matters to Alice.", fact)
        insight(mira, f"Alice thinks a lot about {MARKER}.", thought)
        draft = {"answer": f"{MARKER} matters to Alice."}
        night = Consolidation.objects.create(
            companion=mira, night_of=NOW.date(), asked_at=NOW, next_at=NOW, draft=draft
        )
        change = Change.objects.create(
            companion=mira, consolidation=night, number=1, kind="insight", memory=thought
        )
        change.others.set([fact])
        sentences = [told(f"Alice named {MARKER}.", secret), told("We spoke of tea.", said[2])]
        diary(mira, session, *sentences, title=f"Of {MARKER} and tea")
        for about in Revision.About.values:
            profile(mira, told(f"A locker, {MARKER}.", secret), about=about)
            profile(
                mira, told(f"A locker, {MARKER}.", secret), told("Alice likes tea.", said[2]), about=about
            )
        set_slot(mira.pk, "locker", f"It is {MARKER}", by=By.COMPANION, now=NOW, source_ids=[secret.pk])
        write_block(mira.pk, "notes", "Be kind.", by=By.USER, now=NOW)
        append_to_block(
            mira.pk, "notes", f"The word: {MARKER}", by=By.COMPANION, now=NOW, source_ids=[secret.pk]
        )
        Session.objects.filter(pk=session.pk).update(
            summary=f"Alice named {MARKER}.", summarised_until=NOW, scratch=f"{MARKER}!"
        )
        Closing.objects.create(
            companion=mira,
            session=session,
            until_at=NOW,
            asked_at=NOW,
            next_at=NOW,
            drafts={"title": MARKER},
        )
        return secret

    return spread


@pytest.fixture
def at_home(alice: User, client: Client) -> Client:
    """Alice's browser."""
    sign_in(client, alice)
    return client
