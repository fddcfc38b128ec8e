"""Time together: counted over all channels, told at the day's beginning and when a break is due."""

from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.utils import translation
from pytest_django import Settings

from accounts.models import User
from safety import notices
from safety.models import ContinuousUse, Notice

NINE = datetime(2026, 5, 4, 9, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def talk(user: User, *minutes: int) -> list[tuple[int, str]]:
    """Say something at each of these minutes after nine; which notices came, and when."""
    came = []
    for minute in minutes:
        at = NINE + timedelta(minutes=minute)
        came += [(minute, one.kind) for one in notices.record_use(user, at, at)]
    return came


def test_the_days_first_word_is_told_that_this_is_an_ai(alice: User) -> None:
    assert talk(alice, 0, 10, 20) == [(0, "ai")]
    assert talk(alice, 60 * 24) == [(60 * 24, "ai")]


def test_a_day_is_the_persons_own(alice: User) -> None:
    alice.time_zone = "Asia/Tokyo"  # nine in the morning UTC is six in the evening there
    assert talk(alice, 0, 5 * 60 + 59) == [(0, "ai")]
    assert talk(alice, 6 * 60) == [(6 * 60, "ai")]


def test_after_three_hours_without_a_pause_a_break_is_due_and_then_every_three(alice: User) -> None:
    assert talk(alice, *range(0, 400, 20)) == [(0, "ai"), (180, "break"), (360, "break")]
    assert list(
        Notice.objects.filter(kind="break").order_by("made_at").values_list("minutes", flat=True)
    ) == [180, 360]


def test_a_pause_of_half_an_hour_begins_anew(alice: User) -> None:
    before = [*range(0, 160, 20), 189]
    assert talk(alice, *before, *range(200, 369, 20)) == [(0, "ai")]
    assert ContinuousUse.objects.get(user=alice).begun_at == NINE + timedelta(minutes=189)


def test_after_a_pause_the_last_notice_counts_no_more(alice: User) -> None:
    assert talk(alice, *range(0, 200, 20)) == [(0, "ai"), (180, "break")]
    assert talk(alice, *range(220, 401, 20)) == [(400, "break")]


def test_an_answer_that_takes_long_is_no_pause(alice: User) -> None:
    notices.record_use(alice, NINE, NINE + timedelta(minutes=25))
    notices.record_use(alice, NINE + timedelta(minutes=50), NINE + timedelta(minutes=51))
    assert ContinuousUse.objects.get(user=alice).begun_at == NINE


def test_what_comes_out_of_order_moves_nothing_back(alice: User) -> None:
    talk(alice, 0, 20, 10)
    assert ContinuousUse.objects.get(user=alice).last_at == NINE + timedelta(minutes=20)


def test_the_interval_is_a_setting(alice: User, settings: Settings) -> None:
    settings.BREAK_AFTER = timedelta(minutes=60)
    assert talk(alice, *range(0, 130, 20)) == [(0, "ai"), (60, "break"), (120, "break")]


def test_each_person_has_a_count_of_their_own(alice: User, bob: User) -> None:
    talk(alice, *range(0, 181, 20))
    assert talk(bob, 181) == [(181, "ai")]
    assert notices.list_unseen(bob, NINE + timedelta(minutes=190)) == list(Notice.objects.owned_by(bob))


def test_what_was_seen_or_is_a_day_old_is_shown_no_more(alice: User) -> None:
    talk(alice, *range(0, 181, 20))
    now = NINE + timedelta(minutes=181)
    assert [one.kind for one in notices.list_unseen(alice, now)] == ["ai", "break"]
    Notice.objects.filter(kind="ai").update(seen_at=now)
    assert [one.kind for one in notices.list_unseen(alice, now)] == ["break"]
    assert notices.list_unseen(alice, now + timedelta(days=1)) == []


@pytest.mark.parametrize(("minutes", "said"), [(45, "45 minutes"), (60, "an hour"), (180, "3 hours")])
def test_a_notice_tells_how_long_and_that_this_is_an_ai(minutes: int, said: str) -> None:
    with translation.override("en"):
        told = str(notices.describe(Notice(kind="break", minutes=minutes)))
    assert said in told
    assert "AI" in told


@pytest.mark.parametrize("minutes", ["0", "181", "-5"])
def test_no_setting_is_longer_than_the_law_lets(minutes: str) -> None:
    from config.setting_rules import break_after

    with pytest.raises(ImproperlyConfigured, match="KITH_BREAK_MINUTES"):
        break_after(int(minutes))


def test_every_kind_of_notice_has_words_of_its_own() -> None:
    told = [str(notices.describe(Notice(kind=kind))) for kind in Notice.Kind]
    assert len({*told}) == len(told)
