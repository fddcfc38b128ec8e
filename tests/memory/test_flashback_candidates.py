"""What comes to mind unasked: from one companion's felt or long unrecalled memories, by a seed."""

from datetime import timedelta
from random import Random

import pytest

from companions.models import Companion, Message
from memory.models import Memory
from memory.recall.candidates import EVERYTHING, MemoryFilter
from memory.recall.flashbacks import MAX_FLASHBACK_CANDIDATES as EACH
from memory.recall.flashbacks import find_flashback
from tests.memory.conftest import DAY, Say

pytestmark = pytest.mark.django_db
NOW = DAY + timedelta(days=40)


def drawn(companion: Companion, filters: MemoryFilter = EVERYTHING, seeds: int = 60) -> set[str]:
    found = [find_flashback(companion.pk, filters, Random(seed), NOW) for seed in range(seeds)]
    return {one.memory.text for one in found if one}


def test_a_seed_decides_what_comes(mira: Companion, say: Say) -> None:
    say(mira, *(f"We walked to the lake, and it was day {n}." for n in range(9)))
    first, again = (
        [find_flashback(mira.pk, EVERYTHING, Random(seed), NOW) for seed in range(20)] for _ in range(2)
    )
    assert first == again
    assert len({one.memory.pk for one in first if one}) > 3
    assert {(one.score, str(one.reasons)) for one in first if one} == {(0.0, "{'flashback': True}")}


def test_nothing_comes_from_another_companion(mira: Companion, tian: Companion, say: Say) -> None:
    say(tian, "We walked to the lake together.")
    assert find_flashback(mira.pk, EVERYTHING, Random(1), NOW) is None


def test_what_is_shown_closed_or_hidden_does_not_come(mira: Companion, say: Say) -> None:
    shown, known, closed, hidden, free = say(
        mira, *(f"We walked to the lake for the time {n}." for n in range(5))
    )
    Memory.objects.filter(pk=closed.pk).update(closed_at=DAY)
    Message.objects.filter(pk=hidden.message_id).update(is_hidden=True)
    filters = MemoryFilter(leaving_out=[shown.message_id], leaving_out_memories=[known.pk])
    assert drawn(mira, filters) == {free.text}


def test_what_is_too_short_too_long_or_just_told_does_not_come(mira: Companion, say: Say) -> None:
    say(mira, "Good night.", "x" * 401, "We walked to the lake.")
    say(mira, "We have only just said this.", at=NOW - timedelta(hours=2))
    assert drawn(mira) == {"We walked to the lake."}


def test_what_is_felt_comes_although_it_was_told_just_now(mira: Companion, say: Say) -> None:
    felt, _ = say(mira, "You saved my life today.", "And then we ate an apple.", at=NOW - timedelta(hours=2))
    Memory.objects.filter(pk=felt.pk).update(joy=0.8)
    assert drawn(mira) == {felt.text}


def test_it_is_one_query_over_a_bounded_set(
    mira: Companion, say: Say, django_assert_num_queries: object
) -> None:
    memories = say(mira, *(f"We walked to the lake, and it was day {n}." for n in range(4 * EACH)))
    Memory.objects.filter(pk__in=[one.pk for one in memories[-2 * EACH :]]).update(aversion=0.9)
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert find_flashback(mira.pk, EVERYTHING, Random(1), NOW)
    assert len(drawn(mira, seeds=200)) <= 2 * EACH
