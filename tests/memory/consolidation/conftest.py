"""Nights of Mira's: what she knows, the answer that the model is told to give, and the work as a worker does it."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from companions.memories import consolidation
from companions.models import Companion, Message
from memory.consolidation import runs
from memory.embedding import embed_waiting
from memory.models import Change, Consolidation, Memory, Pursuit
from memory.store import entry_of
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer

DAY = datetime(2023, 5, 2, 9, tzinfo=UTC)
NIGHT = datetime(2023, 5, 3, 2, tzinfo=UTC)  # four in the morning in Berlin
NOTHING: dict[str, Any] = {"merges": [], "contradictions": [], "insights": [], "reviews": []}
Know = Callable[..., Memory]
Work = Callable[..., list[Change]]


@pytest.fixture
def know(say: Any) -> Know:
    """Lets a companion know something that was said in a message of its own."""

    def know(
        companion: Companion, text: str, kind: str = "fact", at: datetime = DAY, **fields: Any
    ) -> Memory:
        message: Message = say(companion, text, at=at)[0].message
        memory = Memory.objects.create(
            companion=companion,
            text=text,
            kind=kind,
            happened_at=at,
            learnt_at=at,
            entry=entry_of(text, "", at, companion.user.zone),
            quotes=[{"message": str(message.pk), "text": text}],
            **fields,
        )
        memory.sources.add(message)
        if kind in ("goal", "idea"):
            Pursuit.objects.create(companion=companion, memory=memory)
        return memory

    return know


def place(memory: Memory, sent: list[dict[str, Any]]) -> int:
    """The number under which a request tells of the memory."""
    for line in sent[-1]["content"].splitlines():
        if line.startswith("M") and line.endswith(json.dumps(memory.text, ensure_ascii=False)):
            return int(line[1:].split(" ")[0])
    raise AssertionError(f"{memory.text} is not told of")


def numbers(companion: Companion) -> dict[UUID, int]:
    """The numbers that the next request will give, by memory."""
    one = Consolidation(companion=companion, night_of=NIGHT.date(), asked_at=NIGHT)
    found = runs.load_candidates(one)
    return {memory.pk: number for number, memory in enumerate(found.memories, start=1)}


@pytest.fixture
def work(rehearsal: RehearsalServer) -> Work:
    """Lets a night come: what it did. `answer` says what the model gives, from the numbers of the memories."""

    def work(
        companion: Companion,
        answer: Callable[[Callable[[Memory], int]], dict[str, Any]] | dict[str, Any] | None = None,
        now: datetime = NIGHT,
    ) -> list[Change]:
        embed_waiting(companion.pk)
        assert consolidation.request_due_nights(now) == 1
        if answer is not None:
            of = numbers(companion)
            given = answer if isinstance(answer, dict) else answer(lambda memory: of[memory.pk])
            rehearsal.script({"task": "night", "answer": json.dumps(NOTHING | given)})
        return done(companion, now)

    return work


def done(companion: Companion, now: datetime) -> list[Change]:
    """Does what is due; the changes of the newest night."""
    for companion_id, night_id in runs.find_due(now):
        runs.consolidate(companion_id, night_id, clock_at(now))
    newest = Consolidation.objects.filter(companion=companion).order_by("-asked_at").first()
    return list(newest.changes.order_by("number")) if newest else []


def calls(server: RehearsalServer) -> int:
    """How often the model was asked."""
    return len(server.ledger())


LATER = timedelta(days=1)
