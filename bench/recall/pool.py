"""The pool test: all talks in one database, and nothing of one ever comes to another's mind."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import groupby
from uuid import UUID

from django.db import transaction

from bench.recall.asking import Cue, ask
from bench.recall.storing import Stored
from companions.models import Companion
from memory.recall.recall import Found

Result = tuple[UUID, float]


def foreign(stored: Stored, found: Sequence[Found]) -> int:
    """How many of the results are of another companion than the one asked."""
    return sum(
        one.memory.companion_id != stored.companion.pk or one.memory.message_id not in stored.turns
        for one in found
    )


def ask_everyone(everyone: Sequence[Stored], asked: Sequence[Cue]) -> tuple[int, int]:
    """How often a companion was asked what another was told, and how many results came from elsewhere."""
    pairs = [(one, cue) for one in everyone for cue in asked if cue.stored is not one]
    return len(pairs), sum(foreign(one, ask(one, cue)) for one, cue in pairs)


def changed_alone(asked: Sequence[Cue]) -> list[Cue]:
    """The cues whose results (memories, order or scores) are others where all other companions are absent."""
    changed = []
    for _, group in groupby(asked, key=lambda cue: cue.stored.companion.pk):
        own = list(group)
        among = [results(cue) for cue in own]
        with alone(own[0].stored):
            changed += [cue for cue, before in zip(own, among, strict=True) if results(cue) != before]
    return changed


def results(cue: Cue) -> list[Result]:
    """The ids and scores, best first, that a cue finds in its own companion."""
    return [(one.memory.pk, round(one.score, 6)) for one in ask(cue.stored, cue)]


@contextmanager
def alone(stored: Stored) -> Iterator[None]:
    """Inside the block the database holds no other companion; afterwards it holds all again."""
    with transaction.atomic():
        Companion.objects.exclude(pk=stored.companion.pk).delete()
        yield
        transaction.set_rollback(True)
