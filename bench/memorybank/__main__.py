"""`make bench-memorybank DATA=folder`: does a companion remember the right thing? Asked of MemoryBank's people.

Each person of `memory_bank_{en,cn}.json` gets a companion, whose log goes in with its own dates through
`POST …/import/log`; then every question of `probing_questions_{en,cn}.jsonl` is asked over the WebSocket, each in a
session of its own, and answered. Counted is whether what the companion recalled holds the answer, for the first
25 questions of each file, which were labelled by hand before the first run. `--direct` asks `memory.recall` in this
process instead: faster, for trying out a change to recall.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path

from bench.memorybank.people import Person, Question, people

FOUND = 10
TARGETS = {"en": 0.85, "cn": 0.60}


@dataclass(frozen=True)
class Asked:
    """A question, the labels of what was recalled for it, best first, and whether an answer came."""

    person: str
    number: int
    question: Question
    recalled: list[str]
    is_answered: bool

    @property
    def share(self) -> float:
        """How much of what holds the answer was among the first ten."""
        return len(self.question.answers & set(self.recalled[:FOUND])) / len(self.question.answers)


Live = Callable[[Person], Iterable[tuple[list[str], bool]]]
"""Lives through a person's log, then gives for each of their questions what was recalled and whether an answer came."""


def main() -> None:
    """Measure both languages and print a table."""
    arguments = _arguments()
    with ExitStack() as running:
        live = _way(arguments, running)
        print(
            "\nlanguage   answer among the first 10   labelled messages found   questions answered   seconds",
            flush=True,
        )
        missed: list[Asked] = []
        for language, target in TARGETS.items():
            began = time.monotonic()
            asked = [one for person in people(arguments.data, language) for one in _ask(person, live)]
            missed += _report(language, target, asked, time.monotonic() - began)
        for one in missed:
            print(f"not among the first 10: {one.person}, question {one.number}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder with MemoryBank's files")
    parser.add_argument("--direct", action="store_true", help="ask memory.recall in this process")
    parser.add_argument("--url", help="a Kith that runs already; without it one is started")
    parser.add_argument(
        "--token", help="an API token there; its account must be allowed many messages a minute"
    )
    return parser.parse_args()


def _way(arguments: argparse.Namespace, running: ExitStack) -> Live:
    if arguments.direct:
        from bench.memorybank import in_process

        return running.enter_context(in_process.living())
    from bench.memorybank import server

    if arguments.url:
        return server.living(arguments.url, repeat(arguments.token))
    return server.living(*running.enter_context(server.own_kith()))


def _ask(person: Person, live: Live) -> list[Asked]:
    return [
        Asked(person.name, number, question, recalled, is_answered)
        for number, (question, (recalled, is_answered)) in enumerate(
            zip(person.questions, live(person), strict=True)
        )
    ]


def _report(language: str, target: float, asked: list[Asked], seconds: float) -> list[Asked]:
    """Print a language's line; those labelled questions of which nothing was found."""
    labelled = [one for one in asked if one.question.answers]
    missed = [one for one in labelled if not one.share]
    hit = 1 - len(missed) / len(labelled)
    found = sum(one.share for one in labelled) / len(labelled)
    answered = sum(one.is_answered for one in asked)
    print(
        f"{language:10} {hit:8.0%} of {len(labelled)} (at least {target:.0%}) {found:16.0%}"
        f"{answered:22} of {len(asked)}{seconds:10.0f}",
        flush=True,
    )
    return missed


if __name__ == "__main__":
    main()
