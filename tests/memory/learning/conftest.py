"""What learning needs: a talk that was had, and what a model is made to say about it."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from companions.models import Companion
from companions.models.companion import lock
from memory.learning.answers import Learnt
from memory.learning.talk import Line, Talk
from memory.learning.verdicts import learn
from memory.models import Learning, Memory
from tests.memory.conftest import DAY, Say

NOW = DAY + timedelta(days=8)
NAMES = {"user": "Alice", "companion": "Mira"}

Had = Callable[..., Talk]


@pytest.fixture
def had(say: Say) -> Had:
    """A talk of these texts, said by the user unless a text begins with "> ", a minute apart from `at` on."""

    def had(companion: Companion, *texts: str, at: datetime = DAY, given: Sequence[str] = ()) -> Talk:
        lines = []
        for n, text in enumerate(texts):
            said_at, is_companions = at + timedelta(minutes=n), text.startswith("> ")
            role, bare = ("assistant" if is_companions else "user"), text.removeprefix("> ")
            (memory,) = say(companion, bare, role=role, at=said_at)
            speaker = "companion" if is_companions else "user"
            told = tuple(given) if is_companions else ()
            lines.append(Line(memory.message_id, speaker, NAMES[speaker], bare, said_at, told))
        return Talk(lines)

    return had


def learnt(text: str, source: int, quote: str, **fields: Any) -> Learnt:
    """One thing as a model gives it."""
    return Learnt(**{"text": text, "sources": [source], "quotes": [quote], **fields})


def apply(
    companion: Companion, talk: Talk, *learnt: Learnt, known: Sequence[Memory] = (), **fields: Any
) -> Learning:
    """What became of these, as a task does it: in a transaction, with the companion locked."""
    with transaction.atomic():
        lock(companion.pk)
        given = {"now": NOW, "zone": UTC, "names": NAMES, "session_id": None, "call_id": None, **fields}
        return learn(companion.pk, talk, learnt, known, **given)


def outcomes(learning: Learning) -> list[tuple[str, str]]:
    """What became of each verdict, and why."""
    return [(one["outcome"], one["reason"]) for one in learning.verdicts]


def facts(companion: Companion) -> list[Memory]:
    """What the companion has learnt, closed or not, as it was kept."""
    return list(Memory.objects.of(companion.pk).exclude(kind="said").order_by("learnt_at", "happened_at"))
