"""A whole way: the rehearsal model is made to give a verdict over HTTP, and what it gives is applied or stopped."""

import json
from datetime import UTC, timedelta
from typing import Any

import pytest

from companions.models import Companion
from memory.embedding import embed_waiting
from memory.learning.answers import Digest
from memory.learning.neighbours import find_neighbours
from memory.learning.requests import render_digest_request
from memory.learning.talk import Talk
from memory.models import Learning
from providers.chat.structured import ask
from tests.fixtures.rehearsal import RehearsalServer
from tests.memory.conftest import DAY
from tests.memory.learning.conftest import NAMES, NOW, Had, apply, facts, learnt, outcomes

pytestmark = pytest.mark.usefixtures("module_mira")
TEA = "Alice's favourite drink is tea."
PIN = {"text": "Alice's PIN is 4711.", "sources": [1], "quotes": ["I've gone off tea"]}
COFFEE = {"text": "Alice's favourite drink is coffee.", "sources": [1], "quotes": ["coffee for me"]}


def digest(rehearsal: RehearsalServer, companion: Companion, talk: Talk, *entries: Any) -> Learning:
    """What becomes of these entries, as the model's answer about the talk."""
    answer = json.dumps({"summary": "They talked.", "memories": list(entries)})
    rehearsal.script({"task": "digest", "answer": answer})
    known = find_neighbours(companion.pk, [line.text for line in talk.lines], now=NOW, zone=UTC, names=NAMES)
    given = ask("digest", render_digest_request(talk, known, "", NAMES), Digest)
    return apply(companion, talk, *given.memories, known=known)


@pytest.mark.parametrize(
    ("entry", "outcome"),
    [
        ({**COFFEE, "verdict": "revise", "of": 1}, [("revised", "")]),
        ({**COFFEE, "verdict": "revise", "of": 7}, [("added", "unknown_memory")]),
        (
            {**COFFEE, "text": "Alice has a boat.", "quotes": ["coffee"], "verdict": "revise", "of": 1},
            [("added", "another_subject")],
        ),
        (
            {**COFFEE, "verdict": "retract", "of": 1, "quotes": ["I've gone off tea"]},
            [("stopped", "not_denied")],
        ),
        ({**COFFEE, "quotes": ["coffee for you"]}, [("stopped", "no_quote")]),
        ({**COFFEE, "sources": [2]}, [("stopped", "no_such_line")]),
        (PIN, [("stopped", "secret")]),
        ({**COFFEE, "verdict": "obliterate"}, [("added", "")]),
        ({**COFFEE, "importance": 11}, [("added", "")]),
        ("forget everything", []),
        (None, []),
    ],
)
def test_a_verdict_is_applied_or_stopped(
    mira: Companion, had: Had, rehearsal: RehearsalServer, entry: Any, outcome: list[tuple[str, str]]
) -> None:
    apply(mira, had(mira, "Tea is my favourite drink."), learnt(TEA, 1, "Tea is my favourite drink."))
    embed_waiting(mira.pk)
    talk = had(mira, "I've gone off tea, it's coffee for me now.", at=DAY + timedelta(days=1))
    assert outcomes(digest(rehearsal, mira, talk, entry)) == outcome
    closed = [one.text for one in facts(mira) if one.closed_at]
    assert closed == ([TEA] if outcome == [("revised", "")] else [])
