"""A password that is said in talk stays where it was said."""

import json
from datetime import timedelta
from typing import Any

import pytest
from django.db.models import Model

from companions.models import Closing, Companion, Session
from companions.sessions.digests import run
from memory.models import DiaryEntry, Learning, Memory, Revision
from tests.companions.sessions.conftest import GARDEN, MORNING, TEA, Talk, closed
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rehearsal")]
NOON = MORNING + timedelta(hours=3)
SECRET = "Zebra-42"
TOLD = (
    "My password for the bank is Zebra-42, and I moved to Lisbon.",
    "I keep my own counsel about Zebra-42, and I like Lisbon.",
)


def derived() -> str:
    """All that was written from the talk."""
    models: tuple[type[Model], ...] = (DiaryEntry, Revision, Learning, Session, Closing)
    rows: list[Any] = [list(model._default_manager.values()) for model in models]
    return str([*rows, list(Memory.objects.exclude(kind="said").values())])


def sentence(text: str, source: int = 1) -> dict[str, Any]:
    return {"text": text, "sources": [source]}


def ending(**parts: Any) -> dict[str, Any]:
    """Every text of every answer holds the password without saying that it is one."""
    told = [sentence("Zebra-42 it is, in Lisbon."), sentence("Zebra-42")]
    learnt = {"text": "The user relies on Zebra-42.", "sources": [2], "quotes": ["I like Lisbon"]}
    whole = {"summary": "Zebra-42 in Lisbon.", "title": "Zebra-42 and Lisbon", "diary": told}
    stands = {"text": "Alice moved to Lisbon.", "sources": [1], "quotes": ["I moved to Lisbon"]}
    own = [sentence("Zebra-42 it is, in Lisbon.", 2)]
    whole |= {"self_concept": own, "user_profile": told, "memories": [learnt, stands]}
    return {"task": "any", "answer": json.dumps(whole | parts), "repeat": 4}


def test_a_password_said_in_talk_stands_in_no_derived_text(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer
) -> None:
    talk(mira, *TOLD)
    rehearsal.script(ending())
    closing = closed(mira, NOON)
    assert closing.state == "done"
    assert closing.session.title == "… and Lisbon"
    assert closing.session.diary_entry.sentences[0]["text"] == "… it is, in Lisbon."
    assert Learning.objects.get().verdicts[0]["reason"] == "secret"
    assert Revision.objects.count() == 2
    assert SECRET not in derived()


def test_a_session_in_which_only_a_password_was_said_is_closed(mira: Companion, talk: Talk) -> None:
    talk(mira, *TOLD[:1])
    assert closed(mira, NOON).state == "done"
    assert SECRET not in derived()


@pytest.mark.parametrize("summary", ["", "The bank trusts Zebra-42; they spoke of Lisbon."])
def test_a_password_stands_in_no_summary(
    mira: Companion, talk: Talk, rehearsal: RehearsalServer, summary: str
) -> None:
    talk(mira, *TOLD, *TEA, *TEA, *TEA, *GARDEN, *GARDEN, *GARDEN[:2])
    if summary:
        rehearsal.script({"task": "digest", "answer": json.dumps({"summary": summary, "memories": []})})
    run(Session.objects.get().pk, clock_at(NOON))
    assert "Lisbon" in Session.objects.get().summary
    assert SECRET not in derived()
