"""Simulated days: from due time to due time, with the clock passed in, downtimes, and workers that die.

At the end each due time, reckoned apart from Kith's schedules, must have exactly one waking.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from itertools import takewhile
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Min

from companions.conversations.messages import open_session, say
from companions.life.timers import timers
from companions.life.wakings import waking
from companions.models import Companion, Message, Timer, Waking
from tests.fixtures.clock import clock_at

DAY, MINUTE = timedelta(days=1), timedelta(minutes=1)
CRONS = {  # the days of the week (Monday is 0), the day of the month, and the time of each
    "cron:0 8 * * *": (range(7), None, time(8)),
    "cron:30 2 * * *": (range(7), None, time(2, 30)),  # the hour that clocks leap over, and go through twice
    "cron:15 18 * * 1-5": (range(5), None, time(18, 15)),
    "cron:0 12 * * 0": ((6,), None, time(12)),
    "cron:45 6 31 * *": (range(7), 31, time(6, 45)),
    "cron:55 22 * * *": (range(7), None, time(22, 55)),
}
AFTER = {"30s": timedelta(seconds=30), "5min": 5 * MINUTE, "2h": timedelta(hours=2), "1d": DAY}


class DeathError(BaseException):
    """A worker's, in the middle of its work; nothing of its own hears of it."""


@dataclass
class Lived:
    """What came of it: wakings by what became of them, and what is wrong."""

    due_times: int = 0
    became: Counter[str] = field(default_factory=Counter)
    deaths: int = 0
    downtimes: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass
class Days:
    """One companion's days, from its first on; the same chance gives the same days."""

    companion: Companion
    now: datetime
    chance: Random
    lived: Lived = field(default_factory=Lived)

    def live(self, days: int) -> Lived:
        """So many days, and what is to be said of them."""
        end = self.now + days * DAY
        for schedule in CRONS:
            self._set(schedule)
        while (following := self._next()) and following < end:
            self.now = max(self.now, following)
            self._happen()
            self._work()
        self.now = end
        self._work()
        self._check()
        return self.lived

    def _next(self) -> datetime | None:
        waiting = (Timer.objects.active(), Waking.objects.waiting())
        looks = [rows.filter(companion=self.companion).aggregate(at=Min("look_at"))["at"] for rows in waiting]
        return min(filter(None, looks), default=None)

    def _happen(self) -> None:
        """What else there is on a day: talk, timers set and cancelled, a server that is down."""
        if self.chance.random() < 0.02:
            self._talk()
        if self.chance.random() < 0.03:
            self._set(self.chance.choice(list(AFTER)))
        if self.chance.random() < 0.01:
            local = (self.now + self.chance.randint(1, 40) * DAY).astimezone(self.companion.user.zone)
            self._set(f"once:{local:%Y-%m-%d %H:%M}")
        if self.chance.random() < 0.003:
            self._cancel()
        if self.chance.random() < 0.01:
            self.now += timedelta(hours=self.chance.randint(1, 9 * 24))
            self.lived.downtimes += 1

    def _set(self, schedule: str) -> None:
        timers.set_timer(
            self.companion,
            schedule,
            "Stretch.",
            by=Timer.By.USER,
            now=self.now,
            is_asked_for=self.chance.random() < 0.1,
        )

    def _cancel(self) -> None:
        """End one that comes again and again, and set it anew."""
        one = self.chance.choice(
            list(Timer.objects.active().filter(companion=self.companion, schedule__in=CRONS))
        )
        timers.cancel(one, self.now)
        self._set(one.schedule)

    def _talk(self) -> None:
        said = {"companion": self.companion, "conversation": self.companion.conversation}
        session = open_session(self.companion.conversation, self.now)
        say(Message(**said, session=session, role="user", text="How are you?", said_at=self.now), self.now)

    def _work(self) -> None:
        """What workers do now; some die in it, and what they held is taken over when its time has come."""
        while ids := timers.claim_timers(self.now, 100):
            if self.chance.random() < 0.02:
                self.lived.deaths += 1
                continue
            timers.begin_wakings(ids, self.now)
        for waking_id in waking.find_due(self.now):
            number = self.chance.randint(1, 40) if self.chance.random() < 0.03 else 0
            try:
                with connection.execute_wrapper(Dying(number)):
                    waking.run(waking_id, clock_at(self.now))
            except DeathError:
                self.lived.deaths += 1

    def _check(self) -> None:
        for timer in Timer.objects.filter(companion=self.companion).exclude(by=Timer.By.KITH):
            self._check_timer(timer)
        found = Waking.objects.filter(companion=self.companion)
        self.lived.became = Counter(
            " ".join(filter(None, (one.state, one.outcome, one.reason))) for one in found
        )
        spoke = found.filter(outcome=Waking.Outcome.SPOKE)
        if spoke.count() != Message.objects.filter(companion=self.companion, waking__in=spoke).count():
            self.lived.wrong.append("a waking that spoke has no message")
        if found.filter(state=Waking.State.WAITING, look_at__lt=self.now - DAY).exists():
            self.lived.wrong.append("a waking still waits")

    def _check_timer(self, timer: Timer) -> None:
        """Whether its wakings stand for its due times, each once."""
        until = timer.ended_at if timer.state == Timer.State.CANCELLED and timer.ended_at else self.now
        expected = list(takewhile(lambda due: due <= until, due_times(timer, self.companion.user.zone)))
        covered: list[datetime] = []
        for one in timer.wakings.order_by("due_at"):
            since = one.missed_since or one.due_at
            mine = [due for due in expected if since <= due <= one.due_at]
            if len(mine) != one.missed + 1 or mine[-1] != one.due_at:
                self.lived.wrong.append(
                    f"{timer.schedule}: {one.due_at} stands for {one.missed + 1}, not {len(mine)}"
                )
            covered += mine
        self.lived.due_times += len(covered)
        there = expected[: len(covered)] if timer.state == Timer.State.CANCELLED else expected
        if covered != there:
            self.lived.wrong.append(f"{timer.schedule}: wakings for {len(covered)} of {len(there)} due times")


@dataclass
class Dying:
    """A worker that dies before so many statements, after which it sends no other; 0: it survives."""

    number: int
    sent: int = 0

    def __call__(self, execute: Callable[..., Any], sql: Any, *rest: Any) -> Any:
        self.sent += 1
        if 0 < self.number <= self.sent and "SAVEPOINT" not in str(sql):
            raise DeathError
        return execute(sql, *rest)


def due_times(timer: Timer, zone: ZoneInfo) -> Iterator[datetime]:
    """When the timer is due, day by day, found without Kith's schedules."""
    if timer.schedule in AFTER:
        yield timer.created_at + AFTER[timer.schedule]
    elif timer.schedule.startswith("once:"):
        yield moment(datetime.fromisoformat(timer.schedule.removeprefix("once:")), zone)
    else:
        weekdays, day_of_month, at = CRONS[timer.schedule]
        day = timer.created_at.astimezone(zone).date()
        while day < date.max - DAY:
            due = moment(datetime.combine(day, at), zone)
            if due > timer.created_at and day.weekday() in weekdays and day_of_month in (None, day.day):
                yield due
            day += DAY


def moment(local: datetime, zone: ZoneInfo) -> datetime:
    """When clocks show that time first; where they leap over it, the first minute after the leap."""
    while (
        datetime.fromtimestamp(local.replace(tzinfo=zone, fold=0).timestamp(), zone).replace(tzinfo=None)
        != local
    ):
        local += MINUTE
    # A time that comes twice equals none of another zone.
    return local.replace(tzinfo=zone, fold=0).astimezone(UTC)
