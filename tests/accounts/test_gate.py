"""What the gate lets through, at its exact limits, with the time passed in."""

from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import DjangoAssertNumQueries, Settings

from accounts.errors import GateError
from accounts.limits.usage import admit, load_allowance
from accounts.models import ModelCall, User

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


def spend(user: User, at: datetime, *, sent: int = 0, received: int = 0) -> None:
    ModelCall.objects.create(
        user=user,
        purpose=ModelCall.Purpose.ANSWER,
        provider="x",
        model="x",
        prompt_tokens=sent,
        completion_tokens=received,
        started_at=at,
    )


def refusal(user: User, *, recent_messages: int = 0, now: datetime = NOON) -> GateError:
    with pytest.raises(GateError) as caught:
        admit(user, recent_messages=recent_messages, now=now)
    return caught.value


def test_the_platforms_limit_of_messages_is_exact(alice: User, settings: Settings) -> None:
    settings.MESSAGES_PER_MINUTE = 3
    admit(alice, recent_messages=2, now=NOON)
    error = refusal(alice, recent_messages=3)
    assert error.code == "too_many_messages"
    assert error.retry_after_seconds == 60
    assert error.detail


def test_a_persons_own_limit_of_messages_comes_first(alice: User, settings: Settings) -> None:
    settings.MESSAGES_PER_MINUTE = 3
    alice.messages_per_minute = 5
    admit(alice, recent_messages=4, now=NOON)
    assert refusal(alice, recent_messages=5).code == "too_many_messages"


def test_a_limit_of_zero_is_a_limit(alice: User) -> None:
    alice.messages_per_minute = 0
    assert refusal(alice).code == "too_many_messages"
    alice.messages_per_minute, alice.tokens_per_day = None, 0
    assert refusal(alice).code == "no_tokens_left"


def test_sent_and_received_tokens_count_together(alice: User, settings: Settings) -> None:
    settings.TOKENS_PER_DAY = 100
    spend(alice, NOON - timedelta(hours=1), sent=60, received=39)
    admit(alice, recent_messages=0, now=NOON)
    spend(alice, NOON, sent=1)
    error = refusal(alice)
    assert error.code == "no_tokens_left"
    assert error.retry_after_seconds == 11 * 3600  # midnight in Berlin is 23:00 UTC


def test_tokens_of_others_do_not_count(alice: User, bob: User) -> None:
    alice.tokens_per_day = 10
    spend(bob, NOON, sent=1000)
    admit(alice, recent_messages=0, now=NOON)


@pytest.mark.parametrize(
    ("zone", "began_at"),
    [
        ("UTC", datetime(2026, 3, 10, 0, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2026, 3, 9, 23, tzinfo=UTC)),
        ("Asia/Shanghai", datetime(2026, 3, 9, 16, tzinfo=UTC)),
        ("America/Los_Angeles", datetime(2026, 3, 10, 7, tzinfo=UTC)),
    ],
)
def test_the_day_is_the_persons_own(alice: User, zone: str, began_at: datetime) -> None:
    alice.time_zone = zone
    spend(alice, began_at - timedelta(microseconds=1), sent=7)
    assert load_allowance(alice, NOON).tokens_today == 0
    spend(alice, began_at, sent=9)
    assert load_allowance(alice, NOON).tokens_today == 9
    assert load_allowance(alice, NOON).resets_at == began_at + timedelta(days=1)


def test_the_day_on_which_clocks_go_forward_has_23_hours(alice: User) -> None:
    now = datetime(2026, 3, 29, 12, tzinfo=UTC)
    began_at = datetime(2026, 3, 28, 23, tzinfo=UTC)
    assert load_allowance(alice, now).resets_at - began_at == timedelta(hours=23)
    alice.tokens_per_day = 0
    assert refusal(alice, now=now).retry_after_seconds == 10 * 3600


def test_an_allowance_shows_what_is_left(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    alice.tokens_per_day, alice.messages_per_minute = 100, 8
    spend(alice, NOON, sent=130)
    with django_assert_num_queries(1):
        allowed = load_allowance(alice, NOON)
    assert (allowed.messages_per_minute, allowed.tokens_per_day, allowed.tokens_today) == (8, 100, 130)
    assert allowed.tokens_left == 0
