"""Curves, moods and days as the numbers of an SVG: points in a box of 1000 by 300 that is stretched as the page is."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

from django.utils.formats import date_format
from django.utils.translation import pgettext

WIDTH, HEIGHT = 1000, 300
CELL, GAP = 12, 3
WEEKS = 26
LEVELS = 4
FELT = 0.005  # a mood below is none


def as_percent(share: float) -> str:
    """A share in whole per cent; also one above 1 or below 0."""
    return f"{round(100 * share)}\u00a0%".replace("-", "\u2212")


def points(pairs: Iterable[tuple[float, float]], widest: float, lowest: float, highest: float) -> str:
    """The pairs as the points of a polyline: x from 0 to `widest`, y from `lowest` to `highest`."""
    return " ".join(f"{across(x, widest)},{up(y, lowest, highest)}" for x, y in pairs)


def across(x: float, widest: float) -> str:
    return f"{WIDTH * x / widest:.1f}"


def up(y: float, lowest: float, highest: float) -> str:
    return f"{HEIGHT * (highest - min(max(y, lowest), highest)) / (highest - lowest):.1f}"


@dataclass(frozen=True, slots=True)
class Day:
    """One day of the map: where it stands, how many recalls, and how dark that is from 0 to 4."""

    x: int
    y: int
    on: date
    count: int
    level: int

    @property
    def label(self) -> str:
        return f"{date_format(self.on, pgettext('another year', 'j F Y'))}: {self.count}"


@dataclass(frozen=True, slots=True)
class Map:
    """The last half year in weeks from Monday to Sunday."""

    days: list[Day]
    total: int
    busiest: Day | None

    width = WEEKS * (CELL + GAP) - GAP
    height = 7 * (CELL + GAP) - GAP
    cell = CELL

    @property
    def first(self) -> date:
        return self.days[0].on


def first_day(today: date) -> date:
    """The Monday with which the map begins."""
    return today - timedelta(days=today.weekday(), weeks=WEEKS - 1)


def day_map(counts: Mapping[date, int], today: date) -> Map:
    """The days up to today, each as dark as it had recalls beside the busiest."""
    first = first_day(today)
    most = max(counts.values(), default=0)
    days = []
    for n in range((today - first).days + 1):
        on = first + timedelta(days=n)
        count = counts.get(on, 0)
        level = -(-LEVELS * count // most) if most else 0
        days.append(Day(n // 7 * (CELL + GAP), n % 7 * (CELL + GAP), on, count, level))
    busiest = max(days, key=lambda day: day.count)
    return Map(days, sum(day.count for day in days), busiest if busiest.count else None)


@dataclass(frozen=True, slots=True)
class MoodChart:
    """The mood of the last weeks: a line around 0, on a scale that shows it."""

    line: str
    now: str
    least: str
    most: str
    since: datetime
    is_flat: bool


def mood_chart(sampled: Sequence[tuple[datetime, float]]) -> MoodChart:
    """Drawn from -1 to 1, or nearer where all of it is small."""
    values = [value for _, value in sampled]
    reach = next(step for step in (0.25, 0.5, 1.0) if max(map(abs, values)) <= step)
    begin, end = sampled[0][0], sampled[-1][0]
    pairs = [((at - begin) / timedelta(days=1), value) for at, value in sampled]
    line = points(pairs, (end - begin) / timedelta(days=1), -reach, reach)
    now, least, most = (as_percent(value) for value in (values[-1], min(values), max(values)))
    is_flat = not any(abs(value) >= FELT for value in values)
    return MoodChart(line, now, least, most, begin, is_flat)
