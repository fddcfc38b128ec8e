"""Policies other than Kith's own: likeness alone, and the rules of other projects and papers, each with its formula.

Randomness in their sources is left out, since it has no place in a ranking; see memory.recall.flashbacks.find_flashback.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from math import ceil, exp, pow
from typing import ClassVar

from fsrs import Card, Rating, Scheduler

from memory.scoring.policy import MAX_DAYS, UNKNOWN_GAP_DAYS, Policy, Remembered, consolidation, require

Scores = list[float | None]


def _score_by_likeness(policy: Policy, rows: Sequence[Remembered]) -> Scores:
    """Return likeness (never below 0) × what is left of each row, or None without an embedding."""
    return [None if row.likeness is None else max(row.likeness, 0) * policy.left(row) for row in rows]


@dataclass(frozen=True, slots=True)
class Likeness:
    """The plainest policy: the cosine alone. A memory without an embedding does not come; nothing is forgotten."""

    name: ClassVar[str] = "likeness"

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return the cosines, or None without an embedding."""
        return [row.likeness for row in rows]

    def left(self, row: Remembered) -> float:
        """Return 1: nothing is forgotten."""
        return 1.0


@dataclass(frozen=True, slots=True)
class DigitalLife:
    """DigitalLife's rule: memories with a likeness above `floor` may come; if 1 to `few` of them are above `clear`,
    only those do, otherwise the `few` of the highest likeness.

    Memories with exactly the likeness of the last of these come too, so that the order of the rows does not matter.
    """

    floor: float = 0.6
    clear: float = 0.7
    few: int = 3

    name: ClassVar[str] = "digital_life"

    def __post_init__(self) -> None:
        require("floor", self.floor, -1, 1)
        require("clear", self.clear, self.floor, 1)
        require("few", self.few, 1, 1000)

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return the cosine of each memory that comes, None for the others."""
        known = (row.likeness for row in rows if row.likeness is not None)
        alike = sorted((likeness for likeness in known if likeness > self.floor), reverse=True)
        clear = sum(likeness > self.clear for likeness in alike)
        last = clear if 1 <= clear <= self.few else min(self.few, len(alike))
        coming = set(alike[:last])
        return [row.likeness if row.likeness in coming else None for row in rows]

    def left(self, row: Remembered) -> float:
        """Return 1: nothing is forgotten."""
        return 1.0


@dataclass(frozen=True, slots=True)
class GenerativeAgents:
    """The sum of 0.99^(days since the last recall), importance and likeness, each stretched to 0–1 over the rows.

    From Park et al. 2023.
    """

    daily: float = 0.99

    name: ClassVar[str] = "generative_agents"

    def __post_init__(self) -> None:
        require("daily", self.daily, 0, 1)

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return scores from 0 to 3, or None without an embedding; such rows do not count in the stretching either."""
        known = [(row, row.likeness) for row in rows if row.likeness is not None]
        recency = spread([self.left(row) for row, _ in known])
        importance = spread([row.importance for row, _ in known])
        likeness = spread([likeness for _, likeness in known])
        sums = map(sum, zip(recency, importance, likeness, strict=True))
        return [None if row.likeness is None else next(sums) for row in rows]

    def left(self, row: Remembered) -> float:
        """Return a share from 1 down to 0: each day without a recall, the same part of it is lost."""
        return float(self.daily**row.idle_days)


def spread(values: Sequence[float]) -> list[float]:
    """Return the values stretched so that the least is 0 and the most is 1; a half each if all are equal."""
    least, most = min(values, default=0), max(values, default=0)
    return [(value - least) / (most - least) if most > least else 0.5 for value in values]


@dataclass(frozen=True, slots=True)
class AiriChat:
    """AIRI's recall in chats: 1.2 × likeness + 0.2 × (1 − age / 30 days, never below 0), above a likeness of 0.5.

    The age counts in days, as AIRI meant it. AIRI takes the best three; here the limit of the recall decides.
    """

    floor: float = 0.5
    month_days: float = 30.0

    name: ClassVar[str] = "airi_chat"

    def __post_init__(self) -> None:
        require("floor", self.floor, -1, 1)
        require("month_days", self.month_days, 0.001, MAX_DAYS)

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return scores from 1.2 × floor to 1.4, or None for a likeness up to the floor or without an embedding."""
        return [
            1.2 * row.likeness + 0.2 * self.left(row)
            if row.likeness is not None and row.likeness > self.floor
            else None
            for row in rows
        ]

    def left(self, row: Remembered) -> float:
        """Return a share from 1 down to 0, which is reached after a month."""
        return max(1 - row.age_days / self.month_days, 0)


# AIRI's forgetting curve D and its emotional score E, by the formulas of its playground, where a is the age and t the
# time since the last recall, both in units, and n is the number of recalls:
# L = 1 − q^(n/N) from N recalls on, else 0
# D = origin × e^(−λa(1 − L)) × (1 + nb × e^(−λst))
# E = D × (1 + joy × J × e^(−jt)) × (1 + aversion × A × σ^⌈n/5⌉)
RANGES: dict[str, tuple[float, float]] = {
    "decay": (0.01, 0.5),
    "unit_days": (0.001, 3660),
    "boost": (0, 1),
    "boost_fading": (0.1, 1),
    "long_term_at": (1, 20),
    "residual": (0.01, 0.9),
    "joy": (0.1, 3),
    "joy_fading": (0.5, 5),
    "aversion": (0.1, 5),
    "aversion_growth": (1, 1.5),
}
MAX_RECALLS = 1000  # further ones change nothing: σ to the power of a million would overflow
MAX_DECAYED = 2.0  # the policy lets no memory count more than two fresh ones


@dataclass(frozen=True, slots=True)
class Curve:
    """The curve's parameters (λ, u, b, s, N, q, J, j, A, σ). Raise ValueError unless each is within RANGES.

    An eased curve has no cliff at the long-term threshold: L climbs to it in a straight line instead of from 0.
    """

    decay: float = 0.099
    unit_days: float = 1.0
    boost: float = 0.25
    boost_fading: float = 0.8
    long_term_at: int = 5
    residual: float = 0.3
    joy: float = 1.5
    joy_fading: float = 3.0
    aversion: float = 2.0
    aversion_growth: float = 1.2
    is_eased: bool = False

    def __post_init__(self) -> None:
        for name, (least, most) in RANGES.items():
            require(name, getattr(self, name), least, most)


AIRIS = Curve()


def lasting(recalls: int, curve: Curve = AIRIS) -> float:
    """Return L: the share, 0 to 1, of the decay that recalls have stopped."""
    if recalls >= curve.long_term_at:
        return 1 - pow(curve.residual, min(recalls, MAX_RECALLS) / curve.long_term_at)
    return (1 - curve.residual) * recalls / curve.long_term_at if curve.is_eased else 0.0


def decayed(origin: float, age_days: float, idle_days: float, recalls: int, curve: Curve = AIRIS) -> float:
    """Return D: what is left of the origin, or more than that if there are many recalls."""
    age, idle = age_days / curve.unit_days, idle_days / curve.unit_days
    boost = min(recalls, MAX_RECALLS) * curve.boost * exp(-curve.decay * curve.boost_fading * idle)
    return origin * exp(-curve.decay * age * (1 - lasting(recalls, curve))) * (1 + boost)


def emotional(origin: float, row: Remembered, curve: Curve = AIRIS) -> float:
    """Return E: D, raised by joy, which fades after a recall, and by aversion, which grows with every fifth recall."""
    d = decayed(origin, row.age_days, row.idle_days, row.recalls, curve)
    joy = row.joy * curve.joy * exp(-curve.joy_fading * row.idle_days / curve.unit_days)
    steps = ceil(min(row.recalls, MAX_RECALLS) / 5)
    return d * (1 + joy) * (1 + row.aversion * curve.aversion * curve.aversion_growth**steps)


@dataclass(frozen=True, slots=True)
class AiriDecay:
    """Likeness (never below 0) × E of an origin of 1, at most 2, on an eased curve.

    Without the bound, a memory that is recalled often would come to mind at every cue, and so be recalled even more.
    """

    curve: Curve = field(default_factory=lambda: Curve(is_eased=True))

    name: ClassVar[str] = "airi_decay"

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return scores from 0 to 2, or None without an embedding."""
        return _score_by_likeness(self, rows)

    def left(self, row: Remembered) -> float:
        """Return E of an origin of 1, from 0 to 2: recalls and feelings raise it above 1."""
        return min(emotional(1, row, self.curve), MAX_DECAYED)


@dataclass(frozen=True, slots=True)
class MemoryBank:
    """Likeness (never below 0) × MemoryBank's forgetting curve as its paper has it: e^(−t/S), where S starts at 1 and
    grows by 1 with each recall.

    The paper forgets for good; here only the score falls.
    """

    unit_days: float = 1.0

    name: ClassVar[str] = "memory_bank"

    def __post_init__(self) -> None:
        require("unit_days", self.unit_days, 0.001, MAX_DAYS)

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return scores from 0 to 1, or None without an embedding."""
        return _score_by_likeness(self, rows)

    def left(self, row: Remembered) -> float:
        """Return the retention, 0 to 1."""
        return memory_bank_retention(row.idle_days / self.unit_days, row.recalls)


def memory_bank_retention(idle: float, recalls: int) -> float:
    """Return the share, 0 to 1, that is left `idle` units after the last recall."""
    return exp(-idle / (1 + recalls))


@dataclass(frozen=True, slots=True)
class Hou:
    """The recall probability of Hou, Tamoto and Miyashita 2024, if it reaches the threshold; otherwise nothing.

    p = (1 − exp(−r × e^(−t/g))) / (1 − e^(−1)), with r the relevance and t the time since the last recall; g starts at 1
    and each recall adds tanh(gap / 2): what is recalled at growing intervals stays. The unit of time decides everything;
    the defaults are the paper's, with a day for a unit.
    """

    unit_days: float = 1.0
    threshold: float = 0.86

    name: ClassVar[str] = "hou"

    def __post_init__(self) -> None:
        require("unit_days", self.unit_days, 0.001, MAX_DAYS)
        require("threshold", self.threshold, 0, 1)

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return probabilities from the threshold to 1, or None below it or without an embedding."""
        probabilities = [probability(row, self.unit_days) for row in rows]
        return [
            p if row.likeness is not None and p >= self.threshold else None
            for row, p in zip(rows, probabilities, strict=True)
        ]

    def left(self, row: Remembered) -> float:
        """Return p, from 0 to 1, for a cue with a likeness of 1."""
        return probability(replace(row, likeness=1.0), self.unit_days)


def probability(row: Remembered, unit_days: float = 1.0) -> float:
    """Return Hou's p, from 0 to 1; a likeness below 0, or None, counts as 0."""
    relevance = min(max(row.likeness or 0, 0), 1)
    left = exp(-row.idle_days / unit_days / consolidation(row, unit_days))
    return (1 - exp(-relevance * left)) / (1 - exp(-1))


MAX_GAPS = 20  # each gap costs one review by the scheduler
MAX_GAP_DAYS = 36_500  # the library's own longest interval
MAX_IDLE_DAYS = 1_000_000  # with all gaps before it, still within Python's calendar
LEARNT_AT = datetime(1, 1, 1, tzinfo=UTC)  # any day would do: only the time between reviews counts
# Learning steps and fuzzing only change when a card is due, which is not used here.
SCHEDULER = Scheduler(learning_steps=(), enable_fuzzing=False)


@dataclass(frozen=True, slots=True)
class Fsrs:
    """Likeness (never below 0) × retrievability by FSRS-6, the curve of spaced repetition, with py-fsrs's parameters.

    R = (1 + f × t / S)^(−w), with t the whole days since the last recall and S the stability: the days after which R is
    0.9. A memory's learning and each of its recalls counts as a review answered with "good"; S starts at 2.3 days and
    grows the more, the more had been forgotten. Source: https://github.com/open-spaced-repetition/py-fsrs
    """

    name: ClassVar[str] = "fsrs"

    def score(self, rows: Sequence[Remembered]) -> Scores:
        """Return scores from 0 to 1, or None without an embedding."""
        return _score_by_likeness(self, rows)

    def left(self, row: Remembered) -> float:
        """Return the retrievability: 1 on the day of the last recall, and slowly down from there."""
        reviewed = card(gaps(row))
        idle = timedelta(days=int(min(row.idle_days, MAX_IDLE_DAYS)))
        return SCHEDULER.get_card_retrievability(reviewed, (reviewed.last_review or LEARNT_AT) + idle)


def gaps(row: Remembered) -> tuple[int, ...]:
    """Return the 20 longest gaps between recalls, in their order and in whole days.

    Not the newest ones: with those, a burst of recalls on one day would undo what years had built.
    """
    unknown = min(row.recalls - len(row.gaps_days), MAX_GAPS)
    every = [UNKNOWN_GAP_DAYS] * unknown + [int(min(gap, MAX_GAP_DAYS)) for gap in row.gaps_days]
    longest = sorted(range(len(every)), key=lambda place: -every[place])[:MAX_GAPS]
    return tuple(every[place] for place in sorted(longest))


@lru_cache(maxsize=8192)
def card(gaps_days: tuple[int, ...]) -> Card:
    """Return the library's card after reviews with these gaps. It is cached, and must not be changed."""
    at = LEARNT_AT
    reviewed, _ = SCHEDULER.review_card(Card(card_id=0, due=at), Rating.Good, at)
    for gap in gaps_days:
        at += timedelta(days=gap)
        reviewed, _ = SCHEDULER.review_card(reviewed, Rating.Good, at)
    return reviewed
