"""`make bench-talk DATA=path`: what a companion is given to remember while a talk goes on, read in the prompts as sent.

DATA is one or more files of LoCoMo's or REALTALK's shape, or folders with such files and MemoryBank's. Each
conversation becomes a companion of its own, told all of it in ended sessions. Then somebody talks with it in one long
session over the REST API of a real web process: twenty small remarks; each question, three small remarks after the one
before; all questions a second time; at last questions that belong to other conversations. Every prompt is read as it
was sent: how much of what holds the answer stands in it, and how much was remembered besides. With --long each question
stands at the end of a message that tells two other things.
"""

import argparse
import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from bench.common.command import count, machine, parser_of_talks
from bench.common.place import Place
from bench.recall.reading import DataError
from bench.talk.subjects import read_subjects
from config.up.run import web_program
from tests.fixtures.rehearsal import RehearsalServer

SEED = 20
OTHERS_QUESTIONS = 200
AT_ONCE = 4


def main() -> None:
    """Talk, and print a table for each kind of data."""
    asked = _arguments()
    chance = random.Random(SEED)
    try:
        groups = read_subjects(asked.data, asked.conversations, asked.only_first, OTHERS_QUESTIONS, chance)
    except DataError as error:
        sys.exit(str(error))
    began = time.monotonic()
    print(f"{sum(len(group.subjects) for group in groups)} companions; {machine()}, seed {SEED}", flush=True)
    with Place() as place, RehearsalServer() as model:
        from bench.talk import report
        from bench.talk.talking import store, talk

        model.script({"answer": "Mm, I see.", "repeat": 1_000_000})
        for group in groups:
            known = [store(subject) for subject in group.subjects]
            web = place.web(web_program, model.url, "rehearsal")
            with web as (_, port), ThreadPoolExecutor(AT_ONCE) as people:
                told = list(people.map(partial(talk, port, is_long=asked.long), known))
            report.show(group.name, told, is_markdown=asked.markdown)
    print(f"\nMeasured in {time.monotonic() - began:.0f} s.")


def _arguments() -> argparse.Namespace:
    parser = parser_of_talks("talk", __doc__)
    parser.add_argument(
        "--only-first", type=count, metavar="N", help="only each companion's first N questions"
    )
    parser.add_argument(
        "--long", action="store_true", help="ask in long messages, behind two things that somebody else told"
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
