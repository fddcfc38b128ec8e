"""When a schedule is due: after a length of time, once at a local time, or by a cron's five fields.

A cron and a local time are read on the clock of a zone. A time that the clock leaps over is due at the first moment
after the leap; one that comes twice is due once, the first time. A length of time is one: a day of it is 24 hours.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise

from cronsim import CronSim, CronSimError

MINUTE = timedelta(minutes=1)
LEAP_YEAR = datetime(2000, 1, 1)  # noqa: DTZ001 - a clock of no zone


class CronError(Exception):
    """No cron that can be due."""


@dataclass(frozen=True, slots=True)
class After:
    """So long after it was set."""

    text: str
    length: timedelta

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return now.astimezone(UTC) + self.length

    def next(self, after: datetime, zone: tzinfo) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Once:
    """At one time on the clock."""

    text: str
    local: datetime

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return moment(self.local, zone)

    def next(self, after: datetime, zone: tzinfo) -> None:
        return None


@dataclass(frozen=True, slots=True)
class Cron:
    """Again and again, at the times on the clock that its five fields name; CronError where they name none."""

    text: str
    fields: str

    def __post_init__(self) -> None:
        try:
            CronSim(self.fields, LEAP_YEAR)
        except CronSimError as error:
            raise CronError(str(error)) from error

    def first(self, now: datetime, zone: tzinfo) -> datetime | None:
        return self.next(now, zone)

    def next(self, after: datetime, zone: tzinfo) -> datetime | None:
        """The first due time later than that; None where there is none within fifty years."""
        locally = self._locally(after.astimezone(zone).replace(tzinfo=None))
        return next((due for local in locally if (due := moment(local, zone)) > after), None)

    def _locally(self, after: datetime) -> Iterator[datetime]:
        """The times on a clock that is never changed: CronSim has rules of its own for those that are."""
        return iter(CronSim(self.fields, after))

    @property
    def shortest(self) -> timedelta:
        """The least time between two that follow each other on the clock, of a day that is due."""
        day = CronSim(" ".join([*self.fields.split()[:2], "* * *"]), LEAP_YEAR)
        times = sorted(60 * hour + minute for hour in day.hours for minute in day.minutes)
        gaps = [later - earlier for earlier, later in pairwise([*times, times[0] + 24 * 60])]
        return timedelta(minutes=min(gaps))


Schedule = After | Once | Cron


def moment(local: datetime, zone: tzinfo) -> datetime:
    """When a clock in the zone shows that time for the first time, or has leapt over it."""
    while not _is_shown(local, zone):
        local += MINUTE
    return local.replace(tzinfo=zone).astimezone(UTC)


def _is_shown(local: datetime, zone: tzinfo) -> bool:
    there = local.replace(tzinfo=zone)
    return there.astimezone(UTC).astimezone(zone).replace(tzinfo=None) == local
