"""What forgetting would make of memories: by the functions of the policies, at any moment, and nothing is written."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import log
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from companions.models import Companion
from memory.emotion import Depth
from memory.models import Memory, Recall, Recalled
from memory.recall.recall import recall
from memory.scoring import CHOICES, Policy, by_name
from memory.scoring.policies import AiriDecay, Curve
from memory.scoring.projection import (
    Life,
    count_recalls_by_day,
    draw_curve,
    half_life_days,
    load_lives,
    rank_by_strength,
)
from tests.memory.conftest import DAY, Say
from tests.memory.policies.test_airi_decay import GOLDEN

BERLIN = ZoneInfo("Europe/Berlin")
POLICIES = [by_name(name) for name, _ in CHOICES]
EVERY = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)


def days(count: float) -> timedelta:
    return timedelta(days=count)


def fresh(now: datetime) -> Life:
    return Life(learnt_at=now, happened_at=now)


def lived(age: float, recalls: int, idle: float, joy: float = 0.0, aversion: float = 0.0) -> Life:
    """A memory of that age, recalled so often, the last time so many days ago."""
    recalled_at = tuple(DAY - days(idle) for _ in range(recalls))
    return replace(fresh(DAY - days(age)), recalled_at=recalled_at, joy=joy, aversion=aversion)


@pytest.mark.parametrize(("age", "recalls", "idle", "kept", "d", "joyful", "averse"), GOLDEN)
def test_the_golden_table_of_the_playground(
    age: float, recalls: int, idle: float, kept: float, d: float, joyful: float, averse: float
) -> None:
    """Of an origin of 500, and never more than two fresh ones."""
    plain = AiriDecay(Curve())
    for feelings, value in (({}, d), ({"joy": 0.5}, joyful), ({"aversion": 0.5}, averse)):
        left = plain.left(lived(age, recalls, idle, **feelings).at(DAY))
        assert left == pytest.approx(min(value / 500, 2), abs=1e-5)


@EVERY
def test_a_curve_is_what_the_policy_says_at_each_of_its_moments(policy: Policy) -> None:
    life = fresh(DAY)
    drawn = draw_curve(life, policy, DAY, 30)
    assert (drawn[0][0], drawn[-1][0]) == (0, 30)
    assert drawn == [(day, policy.left(life.at(DAY + days(day)))) for day, _ in drawn]
    shares = [share for _, share in drawn]
    assert shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    ("name", "half"),
    [("kith", 30), ("airi_chat", 15), ("airi_decay", 7.0015), ("memory_bank", 0.6931), ("hou", 29.05)],
)
def test_half_is_left_after_the_half_life(name: str, half: float) -> None:
    found = half_life_days(by_name(name))
    assert found is not None
    assert found == pytest.approx(half, rel=0.05)
    policy, life = by_name(name), fresh(DAY)
    assert policy.left(life.at(DAY + days(found))) == pytest.approx(policy.left(life.at(DAY)) / 2)


def test_the_half_life_of_the_curve_is_its_own() -> None:
    for decay in (0.01, 0.099, 0.5):
        chosen = Curve(decay=decay, is_eased=True)
        assert half_life_days(AiriDecay(chosen)) == pytest.approx(log(2) / decay)


def test_some_rules_never_forget() -> None:
    assert [half_life_days(by_name(name)) for name in ("likeness", "digital_life")] == [None, None]


@pytest.mark.parametrize("name", ["kith", "airi_decay", "memory_bank", "hou", "fsrs", "generative_agents"])
def test_a_recall_that_is_only_thought_of_lifts_the_curve_from_then_on(name: str) -> None:
    policy, life = by_name(name), fresh(DAY)
    again = replace(life, recalled_at=(DAY + days(10),))
    before, after = (dict(draw_curve(one, policy, DAY, 30)) for one in (life, again))
    common = sorted(set(before) & set(after))
    assert all(after[day] == before[day] for day in common if day < 10)
    assert all(after[day] > before[day] for day in common if day >= 10)


def test_the_strongest_come_first_and_depth_follows_recalls() -> None:
    every = [lived(30, recalls, 5) for recalls in (0, 1, 5, 40)]
    found = rank_by_strength(every, by_name("memory_bank"), DAY)
    assert [one.recalls for one in found] == [40, 5, 1, 0]
    assert [one.depth for one in found] == [Depth.MUSCLE, Depth.LONG_TERM, Depth.WORKING, Depth.SHORT_TERM]
    assert [one.recalled_at for one in found[2:]] == [DAY - days(5), None]


def test_what_would_not_come_to_mind_at_all_is_told_apart() -> None:
    new, old = rank_by_strength([fresh(DAY), lived(400, 0, 400)], by_name("hou"), DAY)
    assert new.weight == pytest.approx(1)
    assert old.weight is None
    assert old.left > 0


def used(companion: Companion, memory: Memory, at: datetime) -> None:
    """The memory was given to a reply, and counts."""
    made = Recall.objects.create(companion=companion, by="turn", at=at, milliseconds=1)
    Recalled.objects.create(recall=made, memory=memory, rank=1, score=1, reasons={}, is_used=True)
    Memory.objects.filter(pk=memory.pk).update(
        times_recalled=Recalled.objects.filter(memory=memory).count(), recalled_at=at
    )


@pytest.mark.django_db
def test_recall_looks_at_the_very_same(mira: Companion, say: Say) -> None:
    """The factors that a real recall reports are those of the life at that moment."""
    tea, _other = say(mira, "I like green tea", "Nothing of the kind")
    used(mira, tea, DAY + days(3))
    Memory.objects.filter(pk=tea.pk).update(importance=8, joy=0.5, evidence=3)
    now, policy = DAY + days(20), by_name("kith", parameters={"retention": 0.1, "month_days": 10})
    found = next(
        one
        for one in recall(mira.pk, "green tea", 5, now=now, zone=UTC, policy=policy)
        if one.memory.pk == tea.pk
    )
    life = next(one for one in load_lives(mira.pk) if one.id == tea.pk)
    factors = policy.factors(life.at(now))  # type: ignore[attr-defined]
    assert found.reasons["factors"] == {name: round(value, 3) for name, value in factors.items()}
    assert found.reasons["factors"]["retention"] != 1


@pytest.mark.django_db
def test_lives_cost_one_query_however_many_and_are_the_companions_own(
    mira: Companion, tian: Companion, say: Say, django_assert_num_queries: object
) -> None:
    said = say(mira, *(f"said {n}" for n in range(12)))
    say(tian, "Not hers")
    for n in range(5):
        used(mira, said[0], DAY + days(n))
    Memory.objects.filter(pk=said[1].pk).update(closed_at=DAY)
    with django_assert_num_queries(1):  # type: ignore[operator]
        found = load_lives(mira.pk)
    assert {one.id for one in found} == {one.pk for one in said} - {said[1].pk}
    assert found[0].id == said[0].pk
    assert found[0].recalled_at == tuple(DAY + days(n) for n in range(5))
    assert load_lives(uuid4()) == []


@pytest.mark.django_db
def test_only_what_a_reply_was_given_counts_and_costs_one_query(
    mira: Companion, tian: Companion, say: Say, django_assert_num_queries: object
) -> None:
    tea, looked_at = say(mira, "Tea", "Looked at only")
    Memory.objects.filter(pk=tea.pk).update(joy=0.7)
    (bobs,) = say(tian, "Bob's")
    midnight = datetime(2023, 5, 2, 22, 30, tzinfo=UTC)  # the third of May in Berlin
    used(mira, tea, midnight)
    used(mira, tea, midnight + days(1))
    used(tian, bobs, midnight)
    seen = Recall.objects.create(companion=mira, by="api", at=midnight, milliseconds=1)
    Recalled.objects.create(recall=seen, memory=looked_at, rank=1, score=1, reasons={})
    with django_assert_num_queries(1):  # type: ignore[operator]
        counted = count_recalls_by_day(mira.pk, DAY, BERLIN)
    assert {str(day): count for day, count in counted.items()} == {"2023-05-03": 1, "2023-05-04": 1}
