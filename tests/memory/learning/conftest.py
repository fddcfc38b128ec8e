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
        speakers = ["companion" if text.startswith("> ") else "user" for text in texts]
        roles = ["assistant" if speaker == "companion" else "user" for speaker in speakers]
        memories = say(companion, *(text.removeprefix("> ") for text in texts), roles=roles, at=at)
        return Talk(
            [
                Line(
                    memory.message_id,
                    speaker,
                    NAMES[speaker],
                    memory.text,
                    memory.happened_at,
                    tuple(given) if speaker == "companion" else (),
                )
                for memory, speaker in zip(memories, speakers, strict=True)
            ]
        )

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
