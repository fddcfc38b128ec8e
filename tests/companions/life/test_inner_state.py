from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone

from accounts.models import User
from companions.creation import create
from companions.life import first_state, inner_state
from companions.life.inner_state import CALM, Feeling
from companions.models import Companion, InnerState, Waking
from companions.models.inner_state import INNER_STATE_CHARACTERS
from memory.emotion import Emotion

NOW = timezone.now()
By = InnerState.By
TENSE = Feeling(-0.5, 0.8, Emotion.SAD, 0.6)


def made(user: User, **fields: Any) -> Companion:
    usual = {"name": "Mira", "persona": "", "greeting": "", "tint": 40, "now": NOW}
    return create(user, **(usual | fields))


@pytest.fixture
def mira(alice: User) -> Companion:
    return made(alice)


def waking_of(companion: Companion) -> Waking:
    return Waking.objects.create(companion=companion, origin=Waking.Origin.FORCED, due_at=NOW, created_at=NOW)


def test_a_new_companion_begins_with_feelings_of_its_own(alice: User) -> None:
    mira = made(alice, persona="A warm gardener. Loves rain. Keeps bees.", greeting="Hello, you!")
    begun = inner_state.get_newest(mira.pk)
    assert begun
    assert (begun.number, begun.by, begun.seen, begun.until_at) == (1, By.SEED, [], None)
    assert begun.text.startswith("I am Mira")
    assert "A warm gardener. Loves rain." in begun.text
    assert "bees" not in begun.text
    assert "Hello, you!" in begun.text
    assert (begun.emotion, begun.valence > 0) == (Emotion.HAPPY, True)
    other = made(alice, greeting="Hello.", alternate_greetings=["Who is there?"], first_greeting=1)
    assert "Who is there?" in InnerState.objects.get(companion=other).text


@pytest.mark.parametrize(
    "persona", ["", "Melancholic, lonely, and grieving.", "A grumpy, cynical dwarf.", "害羞，忧郁，暴躁。"]
)
def test_whoever_begins_is_glad_of_the_meeting(alice: User, persona: str) -> None:
    begun = inner_state.get_newest(made(alice, persona=persona).pk)
    assert begun
    assert (begun.emotion, begun.valence > 0) == (Emotion.HAPPY, True)
    said = begun.text.replace(persona, "") if persona else begun.text
    assert any(word in said for word in ("I am glad that they are here", "很高兴"))


def test_a_persona_of_any_length_leaves_a_short_beginning(alice: User) -> None:
    begun = inner_state.get_newest(made(alice, persona="a" * 20_000, greeting="b" * 4_000).pk)
    assert begun
    assert len(begun.text) < 1000


def test_companions_from_before_are_seeded_once(mira: Companion, alice: User) -> None:
    other = made(alice, name="Juno")
    InnerState.objects.filter(companion=mira).delete()
    assert inner_state.get_newest(mira.pk) is None
    assert first_state.seed_missing(NOW) == 1
    assert first_state.seed_missing(NOW) == 0
    begun = inner_state.get_newest(mira.pk)
    assert begun
    assert first_state.seed(mira, NOW) == begun
    assert InnerState.objects.filter(companion=other).count() == 1


def test_each_revision_has_the_next_number(mira: Companion) -> None:
    said_at, seen = NOW - timedelta(minutes=1), [uuid4(), uuid4()]
    first = inner_state.revise(
        mira.pk, " I worry. ", TENSE, by=By.REFLECTION, now=NOW, seen=[*seen, seen[0]], until_at=said_at
    )
    assert (first.number, first.text, first.seen, first.until_at) == (2, "I worry.", sorted(seen), said_at)
    assert inner_state.get_newest(mira.pk) == first
    assert inner_state.get_feeling(first) == TENSE


def test_a_waking_leaves_what_was_said_to_the_next_reflection(mira: Companion) -> None:
    said_at, waking = NOW - timedelta(minutes=1), waking_of(mira)
    inner_state.revise(mira.pk, "I worry.", TENSE, by=By.REFLECTION, now=NOW, until_at=said_at)
    own = inner_state.revise(mira.pk, "I am calm.", CALM, by=By.WAKING, now=NOW, waking=waking)
    assert (own.number, own.until_at, own.waking) == (3, said_at, waking)


def test_the_same_said_again_by_one_waking_is_one_revision(mira: Companion) -> None:
    one, other = waking_of(mira), waking_of(mira)
    first = inner_state.revise(mira.pk, "I worry.", TENSE, by=By.WAKING, now=NOW, waking=one)
    assert inner_state.revise(mira.pk, "I worry. ", TENSE, by=By.WAKING, now=NOW, waking=one) == first
    assert inner_state.revise(mira.pk, "I worry.", CALM, by=By.WAKING, now=NOW, waking=one) != first
    assert inner_state.revise(mira.pk, "I worry.", CALM, by=By.WAKING, now=NOW, waking=other).number == 4


def test_what_cannot_be_kept_is_cut_or_refused(mira: Companion) -> None:
    kept = inner_state.revise(mira.pk, "a\x00" * 5000, CALM, by=By.WAKING, now=NOW)
    assert kept.text == "a" * (INNER_STATE_CHARACTERS - 1) + "…"
    with pytest.raises(ValueError, match="needs words"):
        inner_state.revise(mira.pk, " \n\x00", CALM, by=By.WAKING, now=NOW)
    with pytest.raises(Companion.DoesNotExist):
        inner_state.revise(uuid4(), "I worry.", CALM, by=By.WAKING, now=NOW)


def test_another_companions_inner_state_is_not_ones_own(mira: Companion, bob: User) -> None:
    theirs = made(bob)
    inner_state.revise(theirs.pk, "I worry.", TENSE, by=By.WAKING, now=NOW)
    begun = inner_state.get_newest(mira.pk)
    assert begun
    assert begun.number == 1


def test_what_is_felt_fades_from_the_moment_it_was_made(mira: Companion) -> None:
    state = inner_state.revise(mira.pk, "I worry.", TENSE, by=By.WAKING, now=NOW)
    assert inner_state.get_feeling_now(state, NOW + timedelta(hours=12)).valence == pytest.approx(-0.25)
    assert inner_state.get_feeling_now(None, NOW) == CALM
