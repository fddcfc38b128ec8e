"""A night comes once, at three where the user lives, for whom something was learnt; beat finds it from rows."""

from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from accounts.models import User
from accounts.models.user import list_time_zones
from companions import tasks
from companions.memories import consolidation
from companions.models import Companion
from jobs.lease import RETRY_DELAY
from memory.consolidation import runs
from memory.models import Consolidation, Memory
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer
from tests.memory.consolidation.conftest import DAY, NIGHT, Know, calls

pytestmark = pytest.mark.usefixtures("module_mira")
BERLIN, HELSINKI = "Europe/Berlin", "Europe/Helsinki"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


COMES = [
    (BERLIN, "2023-05-03T00:59", "2023-05-02", "2023-05-02T01:00"),
    (BERLIN, "2023-05-03T01:00", "2023-05-03", "2023-05-03T01:00"),
    ("Asia/Shanghai", "2023-05-02T19:00", "2023-05-03", "2023-05-02T19:00"),
    ("America/Los_Angeles", "2023-05-03T09:59", "2023-05-02", "2023-05-02T10:00"),
    ("Asia/Kathmandu", "2023-05-02T21:15", "2023-05-03", "2023-05-02T21:15"),
    ("Pacific/Kiritimati", "2023-05-02T13:00", "2023-05-03", "2023-05-02T13:00"),
    (BERLIN, "2023-03-26T00:59", "2023-03-25", "2023-03-25T02:00"),  # from 2 to 3 o'clock in one moment
    (BERLIN, "2023-03-26T01:00", "2023-03-26", "2023-03-26T01:00"),
    (BERLIN, "2023-10-29T01:30", "2023-10-28", "2023-10-28T01:00"),  # twice from 2 to 3
    (BERLIN, "2023-10-29T02:00", "2023-10-29", "2023-10-29T02:00"),
    (HELSINKI, "2023-03-26T00:59", "2023-03-25", "2023-03-25T01:00"),  # from 3 to 4: there is no three
    (HELSINKI, "2023-03-26T01:00", "2023-03-26", "2023-03-26T01:00"),
    (HELSINKI, "2023-10-29T00:00", "2023-10-29", "2023-10-29T00:00"),  # twice from 3 to 4
    (HELSINKI, "2023-10-29T01:30", "2023-10-29", "2023-10-29T00:00"),
]


@pytest.mark.parametrize(("zone", "now", "night_of", "came_at"), COMES)
def test_a_night_comes_at_three_where_the_user_lives(
    zone: str, now: str, night_of: str, came_at: str
) -> None:
    expected = date.fromisoformat(night_of), utc(came_at)
    assert consolidation.find_night(utc(now), ZoneInfo(zone)) == expected


@pytest.mark.parametrize(
    "zone", [BERLIN, HELSINKI, "America/New_York", "Asia/Shanghai", "Australia/Lord_Howe"]
)
def test_every_night_of_a_year_comes_once(zone: str) -> None:
    """Looked at every fifteen minutes, also where clocks change, no night is left out and none comes again."""
    now, found = utc("2023-01-01T00:00"), []
    while now < utc("2024-01-01T00:00"):
        one, came_at = consolidation.find_night(now, ZoneInfo(zone))
        assert came_at <= now
        if not found or found[-1] != one:
            found.append(one)
        now += timedelta(minutes=15)  # the finest step between the clocks of two places
    assert found == [found[0] + timedelta(days=n) for n in range(len(found))]


def test_it_comes_where_something_was_learnt_and_once(mira: Companion, tian: Companion, know: Know) -> None:
    """Bob's companion has heard much, and learnt nothing."""
    know(mira, "Alice plays the cello")
    assert consolidation.request_due_nights(DAY + timedelta(hours=1)) == 0
    assert consolidation.request_due_nights(NIGHT - timedelta(hours=1, minutes=1)) == 0
    assert consolidation.request_due_nights(NIGHT - timedelta(hours=1)) == 1
    assert consolidation.request_due_nights(NIGHT) == 0
    one = Consolidation.objects.get()
    assert (one.companion, one.night_of, one.state) == (mira, NIGHT.date(), "waiting")


def test_the_idle_have_no_night(mira: Companion, know: Know) -> None:
    know(mira, "Alice plays the cello")
    consolidation.request_due_nights(NIGHT)
    [(companion_id, night_id)] = runs.find_due(NIGHT)
    runs.consolidate(companion_id, night_id, clock_at(NIGHT))
    for days in range(1, 10):
        assert consolidation.request_due_nights(NIGHT + timedelta(days=days)) == 0
    know(mira, "Alice has a dog", at=NIGHT + timedelta(days=10))
    # The day's work is for the next night.
    assert consolidation.request_due_nights(NIGHT + timedelta(days=10, hours=5)) == 0
    assert consolidation.request_due_nights(NIGHT + timedelta(days=11)) == 1


@pytest.mark.parametrize(
    "mark",
    [{"is_private": True}, {"closed_at": DAY}, {"kind": "insight"}, {"kind": "said"}, {"kind": "diary"}],
)
def test_what_nobody_may_look_at_brings_no_night(mira: Companion, know: Know, mark: dict[str, Any]) -> None:
    one = know(mira, "Alice plays the cello")
    Memory.objects.filter(pk=one.pk).update(**mark)
    assert consolidation.request_due_nights(NIGHT) == 0


def test_a_night_that_waits_is_not_asked_for_again_the_next_day(mira: Companion, know: Know) -> None:
    know(mira, "Alice plays the cello")
    assert consolidation.request_due_nights(NIGHT) == 1
    know(mira, "Alice has a dog", at=NIGHT + timedelta(hours=5))
    assert consolidation.request_due_nights(NIGHT + timedelta(days=1)) == 0


def test_who_was_shut_out_has_no_nights(mira: Companion, know: Know) -> None:
    know(mira, "Alice plays the cello")
    mira.user.is_active = False
    mira.user.save()
    assert consolidation.request_due_nights(NIGHT) == 0


def test_each_persons_night_comes_by_their_own_clock(mira: Companion, tian: Companion, know: Know) -> None:
    for companion in (mira, tian):
        know(companion, "We like the rain")
    in_china = utc("2023-05-02T19:00")
    assert consolidation.request_due_nights(in_china) == 1
    assert Consolidation.objects.get().companion == tian
    assert consolidation.request_due_nights(NIGHT) == 1


def test_all_zones_that_people_live_in_are_asked_about_in_two_queries(
    mira: Companion, tian: Companion, know: Know, django_assert_num_queries: Any
) -> None:
    know(mira, "Alice plays the cello")
    know(tian, "Bob plays the flute")
    with django_assert_num_queries(2):
        assert consolidation.request_due_nights(NIGHT + timedelta(days=1)) == 2


@pytest.mark.parametrize("zone", ["Asia/Kathmandu", "Etc/GMT+12", "Pacific/Kiritimati"])
def test_a_zone_that_can_be_chosen_has_its_nights(mira: Companion, know: Know, zone: str) -> None:
    assert zone in list_time_zones()
    User.objects.update(time_zone=zone)
    know(mira, "Alice plays the cello")
    assert consolidation.request_due_nights(NIGHT + timedelta(days=1)) == 1


def test_beat_begins_nights_and_does_them(
    mira: Companion, know: Know, rehearsal: RehearsalServer, settings: Any
) -> None:
    """The sweep's own clock: what was learnt in 2023 is long due."""
    settings.CELERY_TASK_ALWAYS_EAGER = True
    know(mira, "Alice plays the cello on Sundays")
    know(mira, "On Sundays Alice plays the cello")
    tasks.begin_nights()
    assert Consolidation.objects.get().state == "done"
    assert calls(rehearsal) == 1
    tasks.begin_nights()
    assert Consolidation.objects.count() == calls(rehearsal) == 1


def test_a_night_put_off_by_a_busy_model_is_gone_on_with_as_soon_as_it_is_due(
    mira: Companion, know: Know, settings: Any
) -> None:
    settings.CELERY_TASK_ALWAYS_EAGER = True
    know(mira, "Alice plays the cello on Sundays")
    consolidation.request_due_nights(timezone.now())
    sweeps = {one["task"]: one["schedule"] for one in settings.CELERY_BEAT_SCHEDULE.values()}
    assert sweeps["companions.tasks.go_on_with_nights"] <= RETRY_DELAY.total_seconds()
    tasks.go_on_with_nights()
    assert Consolidation.objects.get().state == "done"
