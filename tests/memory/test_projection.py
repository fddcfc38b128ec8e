"""What forgetting would make of memories: by the functions of the policies, at any moment, and nothing is written."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from companions.models import Companion
from memory.emotion import Depth, Feeling, Reaction
from memory.models import Memory, Recall, Recalled
from memory.mood import Felt, mood
from memory.policies import CHOICES, Policy, by_name
from memory.policies.airi_decay import AiriDecay, Curve
from memory.projection import (
    UNASKED,
    UNMOVED,
    Again,
    Life,
    curve,
    felt_since,
    half_life_days,
    lives,
    moods,
    recalled_again,
    recalls_by_day,
    strengths,
)
from memory.recall import recall
from tests.memory.conftest import DAY, Say
from tests.memory.policies.test_airi_decay import GOLDEN

BERLIN = ZoneInfo("Europe/Berlin")
POLICIES = [by_name(name) for name, _ in CHOICES]
EVERY = pytest.mark.parametrize("policy", POLICIES, ids=lambda policy: policy.name)


def days(count: float) -> timedelta:
    return timedelta(days=count)


def lived(age: float, recalls: int, idle: float, feeling: Feeling = UNMOVED) -> Life:
    """A memory of that age, recalled so often, the last time so many days ago."""
    recalled_at = tuple(DAY - days(idle) for _ in range(recalls))
    return replace(Life.fresh(DAY - days(age)), recalled_at=recalled_at, feeling=feeling)


@pytest.mark.parametrize(("age", "recalls", "idle", "kept", "d", "joyful", "averse"), GOLDEN)
def test_the_golden_table_of_the_playground(
    age: float, recalls: int, idle: float, kept: float, d: float, joyful: float, averse: float
) -> None:
    """Of an origin of 500, and never more than two fresh ones."""
    plain = AiriDecay(Curve())
    for feeling, value in ((Feeling(), d), (Feeling(joy=0.5), joyful), (Feeling(aversion=0.5), averse)):
        left = plain.left(lived(age, recalls, idle, feeling).at(DAY))
        assert left == pytest.approx(min(value / 500, 2), abs=1e-5)


@EVERY
def test_a_curve_is_what_the_policy_says_at_each_of_its_moments(policy: Policy) -> None:
    life = Life.fresh(DAY)
    drawn = curve(life, policy, DAY, 30)
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
    policy, life = by_name(name), Life.fresh(DAY)
    assert policy.left(life.at(DAY + days(found))) == pytest.approx(policy.left(life.at(DAY)) / 2)


def test_the_half_life_of_the_curve_is_its_own() -> None:
    for decay in (0.01, 0.099, 0.5):
        chosen = Curve(decay=decay, is_eased=True)
        assert half_life_days(AiriDecay(chosen)) == pytest.approx(chosen.half_life_days)


def test_some_rules_never_forget() -> None:
    assert [half_life_days(by_name(name)) for name in ("likeness", "digital_life")] == [None, None]


@pytest.mark.parametrize("name", ["kith", "airi_decay", "memory_bank", "hou", "fsrs", "generative_agents"])
def test_a_recall_that_is_only_thought_of_lifts_the_curve_from_then_on(name: str) -> None:
    policy, life = by_name(name), Life.fresh(DAY)
    again, _ = recalled_again(life, [Again(DAY + days(10))], [])
    before, after = (dict(curve(one, policy, DAY, 30)) for one in (life, again))
    common = sorted(set(before) & set(after))
    assert all(after[day] == before[day] for day in common if day < 10)
    assert all(after[day] > before[day] for day in common if day >= 10)


def test_each_recall_moves_the_feeling_as_emotion_says() -> None:
    life = replace(Life.fresh(DAY), feeling=Feeling(joy=0.4))
    times = [DAY + days(n) for n in range(4)]
    again, felt = recalled_again(
        life,
        [Again(times[3], Reaction.AVERSION), Again(times[1], Reaction.STRONG_JOY), Again(times[2], UNASKED)],
        [],
    )
    assert again.felt_at(times[0]) == Feeling(joy=0.4)
    assert again.felt_at(times[1]) == Feeling(joy=0.4).after(Reaction.STRONG_JOY)
    assert again.felt_at(times[2]) == Feeling(joy=0.6).stirred()
    assert again.felt_at(times[3]) == Feeling(joy=0.65).after(Reaction.AVERSION)
    assert [one.joy for one in felt] == [0.6, 0.65, 0.6]
    assert again.at(times[3]).recalls == 3


@pytest.mark.parametrize(("joy", "aversion", "after"), [(0.9, 0, 0.4), (0, 0.9, 0.25), (0, 0, 0.3)])
def test_without_a_word_a_recall_is_taken_as_the_mood_has_it(
    joy: float, aversion: float, after: float
) -> None:
    felt = [Felt(DAY, joy, aversion)]
    again, _ = recalled_again(replace(Life.fresh(DAY), feeling=Feeling(joy=0.3)), [Again(DAY)], felt)
    assert again.felt_at(DAY).joy == pytest.approx(after)


def test_the_strongest_come_first_and_depth_follows_recalls() -> None:
    every = [lived(30, recalls, 5) for recalls in (0, 1, 5, 40)]
    found = strengths(every, by_name("memory_bank"), DAY)
    assert [one.recalls for one in found] == [40, 5, 1, 0]
    assert [one.depth for one in found] == [Depth.MUSCLE, Depth.LONG_TERM, Depth.WORKING, Depth.SHORT_TERM]
    assert [one.recalled_at for one in found[2:]] == [DAY - days(5), None]


def test_what_would_not_come_to_mind_at_all_is_told_apart() -> None:
    fresh, old = strengths([Life.fresh(DAY), lived(400, 0, 400)], by_name("hou"), DAY)
    assert fresh.weight == pytest.approx(1)
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
    life = next(one for one in lives(mira.pk) if one.id == tea.pk)
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
        found = lives(mira.pk)
    assert {one.id for one in found} == {one.pk for one in said} - {said[1].pk}
    assert found[0].id == said[0].pk
    assert found[0].recalled_at == tuple(DAY + days(n) for n in range(5))
    assert lives(uuid4()) == []


@pytest.mark.django_db
def test_only_what_a_reply_was_given_counts_as_felt_and_each_costs_one_query(
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
        assert felt_since(mira.pk, DAY) == [
            Felt(midnight, 0.7, 0.0),
            Felt(midnight + days(1), 0.7, 0.0),
        ]
    with django_assert_num_queries(1):  # type: ignore[operator]
        counted = recalls_by_day(mira.pk, DAY, BERLIN)
    assert {str(day): count for day, count in counted.items()} == {"2023-05-03": 1, "2023-05-04": 1}
    assert felt_since(mira.pk, midnight + days(2)) == []


def test_moods_are_the_mood_at_each_moment_and_never_of_what_comes_later() -> None:
    felt = [Felt(DAY + timedelta(hours=n * 7), (n % 3) / 3, (n % 2) / 2) for n in range(30)]
    sampled = moods(felt, DAY - days(1), DAY + days(9), timedelta(hours=6))
    assert len(sampled) == 41
    assert sampled[0] == (DAY - days(1), 0)
    for at, value in sampled:
        assert value == pytest.approx(mood([one for one in felt if one.at <= at], at), abs=1e-4)
    assert len({round(value, 3) for _, value in sampled}) > 10
