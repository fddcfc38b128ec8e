"""FSRS-6, the curve of spaced repetition, by py-fsrs with its default parameters.

R = (1 + f × t / S)^(−w), with t the whole days since the last recall and S the stability: the days after which R is 0.9.
A memory's learning and each of its recalls counts as a review answered with "good"; S starts at 2.3 days and grows the
more, the more had been forgotten. Source: https://github.com/open-spaced-repetition/py-fsrs
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import ClassVar

from fsrs import Card, Rating, Scheduler

from memory.scoring.remembered import Remembered

MOST_GAPS = 20  # each costs a review
UNKNOWN_GAP_DAYS = 1
MOST_GAP_DAYS = 36_500  # the library's own longest interval
MOST_IDLE_DAYS = 1_000_000  # with all gaps before it, still within Python's calendar
LEARNT_AT = datetime(1, 1, 1, tzinfo=UTC)  # any day would do: only what lies between counts
SCHEDULER = Scheduler(
    learning_steps=(), enable_fuzzing=False
)  # steps and chance concern what is due, and nothing is


def gaps(row: Remembered) -> tuple[int, ...]:
    """The longest 20 in their order, in whole days. A recall of which the time is not known counts as one after a day.

    Not the newest: a burst of recalls on one day would take away what years had built.
    """
    unknown = min(row.recalls - len(row.gaps_days), MOST_GAPS)
    every = [UNKNOWN_GAP_DAYS] * unknown + [int(min(gap, MOST_GAP_DAYS)) for gap in row.gaps_days]
    longest = sorted(range(len(every)), key=lambda place: -every[place])[:MOST_GAPS]
    return tuple(every[place] for place in sorted(longest))


@lru_cache(maxsize=8192)
def card(gaps_days: tuple[int, ...]) -> Card:
    """The library's card after these reviews; it is never changed."""
    at = LEARNT_AT
    reviewed, _ = SCHEDULER.review_card(Card(card_id=0, due=at), Rating.Good, at)
    for gap in gaps_days:
        at += timedelta(days=gap)
        reviewed, _ = SCHEDULER.review_card(reviewed, Rating.Good, at)
    return reviewed


@dataclass(frozen=True, slots=True)
class Fsrs:
    """Likeness (never below 0) × retrievability."""

    name: ClassVar[str] = "fsrs"

    def score(self, rows: Sequence[Remembered]) -> list[float | None]:
        """From 0 to 1, or None without an embedding."""
        return [None if row.likeness is None else max(row.likeness, 0) * self.left(row) for row in rows]

    def left(self, row: Remembered) -> float:
        """The retrievability: 1 on the day of the last recall, and slowly down from there."""
        reviewed = card(gaps(row))
        idle = timedelta(days=int(min(row.idle_days, MOST_IDLE_DAYS)))
        return SCHEDULER.get_card_retrievability(reviewed, (reviewed.last_review or LEARNT_AT) + idle)
