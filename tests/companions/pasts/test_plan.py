"""What bears no time gets one that is likely, and nothing is said before what it follows."""

from datetime import UTC, datetime, timedelta

import pytest

from companions.pasts.plan import MIN_STEP, SESSION_MESSAGES, Choice, plan_messages, spread_times
from pasts.past import Past, PastMessage

BEFORE = datetime(2024, 1, 1, tzinfo=UTC)
NOW = datetime(2024, 1, 5, tzinfo=UTC)
THEN = datetime(2023, 5, 2, 9, tzinfo=UTC)
MINUTE, SECOND = timedelta(minutes=1), timedelta(seconds=1)


@pytest.mark.parametrize(
    ("told", "given"),
    [
        ([None, None], [BEFORE - 2 * MINUTE, BEFORE - MINUTE]),
        ([None, None, THEN], [THEN - 2 * MINUTE, THEN - MINUTE, THEN]),
        (
            [THEN, None, THEN + timedelta(days=1)],
            [THEN, THEN + timedelta(days=1) - MINUTE, THEN + timedelta(days=1)],
        ),
        ([THEN, None, THEN + SECOND], [THEN, THEN + SECOND / 2, THEN + SECOND]),
        ([THEN, None], [THEN, THEN + MINUTE]),
        ([NOW, None], [NOW, NOW + MIN_STEP]),
        ([THEN, THEN, THEN], [THEN, THEN + MIN_STEP, THEN + 2 * MIN_STEP]),
        ([THEN, THEN - MINUTE], [THEN, THEN + MIN_STEP]),
        ([THEN, NOW + timedelta(days=9)], [THEN, THEN + MINUTE]),  # it has not come yet
        ([], []),
    ],
)
def test_times_are_told_or_likely(told: list[datetime | None], given: list[datetime]) -> None:
    assert spread_times(told, BEFORE, NOW) == given


def message(id: str, parent: str | None, text: str, at: datetime | None = None) -> PastMessage:
    return PastMessage(id=id, parent=parent, speaker="Odo", is_person=False, text=text, at=at)


def test_what_says_nothing_is_left_out_and_what_follows_it_stays_in_its_place() -> None:
    said = (
        message("1", None, "Hello.", THEN),
        message("2", "1", "  ", THEN + SECOND),
        message("3", "2", "I am here.", THEN + MINUTE),
        message("4", "2", "I was here.", THEN - MINUTE),
    )
    past = Past(title="", messages=said, leaf="3")
    plan = plan_messages([past], Choice(), before=BEFORE, now=NOW, most_characters=100)
    first, chosen, other = plan.messages
    assert (plan.empty, chosen.follows, other.follows, other.beside) == (1, first.key, first.key, chosen.key)
    assert (chosen.is_chosen, other.is_chosen, other.at) == (True, False, THEN + MIN_STEP)


def test_a_talk_without_a_pause_has_sessions_all_the_same() -> None:
    said = (message(f"{n}", f"{n - 1}", f"{n}", THEN + n * SECOND) for n in range(SESSION_MESSAGES + 1))
    past = Past(title="", messages=tuple(said), leaf=None)
    plan = plan_messages([past], Choice(), before=BEFORE, now=NOW, most_characters=100)
    assert [session.messages for session in plan.sessions] == [SESSION_MESSAGES, 1]


def test_talks_without_times_lie_in_their_order_before_the_first_message() -> None:
    pasts = [Past(title=name, messages=(message("1", None, name),), leaf="1") for name in ("first", "second")]
    plan = plan_messages(pasts, Choice(), before=BEFORE, now=NOW, most_characters=100)
    assert [planned.text for planned in sorted(plan.messages, key=lambda planned: planned.at)] == [
        "first",
        "second",
    ]
    assert all(planned.at < BEFORE for planned in plan.messages)
    assert len(plan.sessions) == 2
