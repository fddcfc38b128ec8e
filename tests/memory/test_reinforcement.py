"""What was shown in a reply sits deeper and feels as the mood was; each memory once for a reply."""

from datetime import UTC, timedelta
from uuid import uuid4

import pytest

from companions.models import Companion, Reply
from memory.emotion import count_uses, reaction_to
from memory.models import Memory, Recall, Recalled
from memory.recall.recall import Found, recall, record
from memory.scoring import by_name, in_mood
from memory.scoring.policy import Kith
from tests.fixtures.people import make_alice
from tests.fixtures.turns import make_companion
from tests.memory.conftest import DAY, Say
from tests.memory.feelings import Feeling

pytestmark = pytest.mark.django_db
LATER = DAY + timedelta(days=3)


@pytest.fixture(scope="module")
def mira(module_rows: None) -> Companion:
    return make_companion(make_alice())


@pytest.fixture
def replies(mira: Companion, say: Say) -> list[Reply]:
    """Two replies to one message."""
    (asked,) = say(mira, "What shall we cook?")
    return [
        Reply.objects.create(companion=mira, message=asked.message, created_at=DAY + timedelta(seconds=n))
        for n in range(2)
    ]


def show(
    memories: list[Memory], reply: Reply | None, by: str = "turn", *, is_flashback: bool = False
) -> None:
    reasons = {"flashback": True} if is_flashback else {"parts": {}}
    found = [Found(one, 1.0, reasons) for one in memories]
    record(memories[0].companion_id, by, "cue", found, LATER, 1, reply_id=reply and reply.pk)


def row(memory: Memory) -> tuple[int, object, float, float]:
    memory.refresh_from_db()
    return memory.times_recalled, memory.recalled_at, memory.joy, memory.aversion


def test_what_was_shown_is_used_once_however_often_it_is_told(
    mira: Companion, say: Say, replies: list[Reply]
) -> None:
    tea, soup, bread = say(mira, "Tea.", "Soup.", "Bread.")
    show([tea, soup], replies[0])
    show([bread, soup], replies[0], Recall.By.TOOL)
    assert count_uses(replies[0].pk, 0, LATER) == 3
    assert count_uses(replies[0].pk, 0, LATER + timedelta(days=1)) == 0
    assert [row(one) for one in (tea, soup, bread)] == [(1, LATER, 0, 0)] * 3
    assert Recalled.objects.filter(is_used=True).count() == 3


def test_another_reply_counts_again_but_not_one_that_goes_on(
    mira: Companion, say: Say, replies: list[Reply]
) -> None:
    tea, soup = say(mira, "Tea.", "Soup.")
    first, second = replies
    show([tea], first)
    show([tea, soup], second)
    count_uses(first.pk, 0, LATER)
    assert count_uses(second.pk, 0, LATER, [first.pk]) == 1
    assert (row(tea)[0], row(soup)[0]) == (1, 1)
    assert count_uses(second.pk, 0, LATER, [first.pk]) == 0
    third = Reply.objects.create(companion=mira, message=second.message, created_at=LATER)
    show([tea], third)
    assert count_uses(third.pk, 0, LATER) == 1
    assert row(tea)[0] == 2


def test_looking_strengthens_nothing(mira: Companion, say: Say, replies: list[Reply]) -> None:
    (tea,) = say(mira, "Tea.")
    for by in (Recall.By.API, Recall.By.OPERATOR):
        show([tea], None, by)
    assert count_uses(replies[0].pk, 1, LATER) == 0
    assert count_uses(uuid4(), 1, LATER) == 0
    assert row(tea) == (0, None, 0, 0)
    assert not Recalled.objects.filter(is_used=True).exists()


@pytest.mark.parametrize("mood", [-1, -0.6, -0.3, -0.1, 0, 0.19, 0.2, 0.6, 1])
@pytest.mark.parametrize("feeling", [Feeling(0, 0), Feeling(0.5, 0.45), Feeling(0.97, 0.02), Feeling(0.3, 1)])
@pytest.mark.parametrize("is_flashback", [False, True])
def test_the_rows_feel_as_the_rule_says(
    mira: Companion, say: Say, replies: list[Reply], mood: float, feeling: Feeling, is_flashback: bool
) -> None:
    (tea,) = say(mira, "Tea.")
    Memory.objects.filter(pk=tea.pk).update(joy=feeling.joy, aversion=feeling.aversion)
    show([tea], replies[0], is_flashback=is_flashback)
    count_uses(replies[0].pk, mood, LATER)
    then = feeling.stirred() if is_flashback else feeling.after(reaction_to(mood))
    assert row(tea)[2:] == pytest.approx((then.joy, then.aversion), abs=1e-6)


def test_it_is_one_query_for_one_and_for_many(
    mira: Companion, say: Say, replies: list[Reply], django_assert_num_queries: object
) -> None:
    show(say(mira, *(f"tea {n}" for n in range(40))), replies[0])
    with django_assert_num_queries(1):  # type: ignore[operator]
        assert count_uses(replies[0].pk, 0.5, LATER) == 40


def test_earlier_uses_are_read_in_the_same_query(
    mira: Companion, say: Say, replies: list[Reply], django_assert_num_queries: object
) -> None:
    show(say(mira, "tea", "more tea"), replies[0])
    count_uses(replies[0].pk, 0.5, LATER)
    with django_assert_num_queries(2):  # type: ignore[operator]
        assert recall(mira.pk, "tea?", 5, now=LATER + timedelta(days=1), zone=UTC)


@pytest.mark.parametrize("mood", [1.1, -2, float("nan")])
def test_a_mood_that_is_none_changes_nothing(
    mira: Companion, say: Say, replies: list[Reply], mood: float
) -> None:
    (tea,) = say(mira, "Tea.")
    show([tea], replies[0])
    with pytest.raises(ValueError, match="mood"):
        count_uses(replies[0].pk, mood, LATER)
    assert row(tea)[0] == 0


def test_only_a_policy_that_knows_moods_is_given_one() -> None:
    assert in_mood(Kith(), 0.5) != Kith() == in_mood(Kith(), 0)
    assert in_mood(by_name("likeness"), 0.5) == by_name("likeness")
