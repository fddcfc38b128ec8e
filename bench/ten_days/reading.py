"""MemoryBank's people, day by day: what each said and was told."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Day:
    """A day (2023-05-02) and its exchanges: what the person said, and what they were told."""

    on: str
    exchanges: list[tuple[str, str]]


@dataclass(frozen=True)
class Person:
    """Somebody with their days, in order."""

    name: str
    days: list[Day]


def people(path: Path, most: int, days: int = 10) -> list[Person]:
    """The first so many people of a file who talked on so many days."""
    found = []
    for name, person in json.loads(path.read_text()).items():
        read = [
            Day(on, [(one["query"], one["response"]) for one in said])
            for on, said in sorted(person["history"].items())
            if said
        ]
        if len(read) >= days:
            found.append(Person(name.strip(), read[:days]))
    return found[:most]
