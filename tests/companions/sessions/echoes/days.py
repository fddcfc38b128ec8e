"""A made-up person's year: what they say on each day, and when. The same seed gives the same year."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from random import Random

from tests.companions.sessions.echoes import sayings

FIRST = datetime(2024, 1, 1, tzinfo=UTC)
TURNS = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12)
OFTEN = (10, 10, 12, 14, 14, 12, 10, 8, 6, 4)  # of a hundred days
CHINESE = 0.25  # of all turns
CHANGES = 1 / 45  # of one preference on one day
FIRST_HOUR, LAST_HOUR = 8, 19
MOST_MINUTES = 18  # between two turns


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing that the person says, at its time."""

    at: datetime
    text: str


@dataclass
class Life:
    """What is true of the person for now; changes from day to day."""

    chance: Random
    likes: dict[str, str] = field(default_factory=dict)
    owed: list[str] = field(default_factory=list)  # what they changed and have not told yet

    def __post_init__(self) -> None:
        self.likes = {name: self.chance.choice(kinds) for name, kinds in sayings.LIKED.items()}

    def days(self, count: int) -> Iterator[list[Turn]]:
        """The turns of each day, also of those on which nothing is said."""
        for number in range(count):
            yield self._day(FIRST + timedelta(days=number))

    def _day(self, day: datetime) -> list[Turn]:
        for name in self.likes:
            if self.chance.random() < CHANGES:
                self._change(name)
        at = day + timedelta(hours=self.chance.randint(FIRST_HOUR, LAST_HOUR))
        turns = []
        for _ in range(self.chance.choices(TURNS, OFTEN)[0]):
            turns.append(Turn(at, self._says()))
            at += timedelta(minutes=self.chance.randint(1, MOST_MINUTES))
        return turns

    def _change(self, name: str) -> None:
        before = self.likes[name]
        self.likes[name] = now = self.chance.choice([one for one in sayings.LIKED[name] if one != before])
        self.owed.append(sayings.CHANGED.format(before=before, now=now, name=name))

    def _says(self) -> str:
        if self.owed:
            return self.owed.pop(0)
        if self.chance.random() < CHINESE:
            return self._filled(sayings.CHINESE)
        kinds = list(sayings.ENGLISH)
        kind = self.chance.choices(kinds, [sayings.SHARES[one] for one in kinds])[0]
        if kind == "preference":
            name, like = self.chance.choice(list(self.likes.items()))
            return self.chance.choice(sayings.PREFERENCES).format(name=name, like=like)
        return self._filled(sayings.ENGLISH[kind])

    def _filled(self, said: tuple[str, ...]) -> str:
        some = {name: self.chance.choice(words) for name, words in sayings.SOME.items()}
        return self.chance.choice(said).format(**some)
