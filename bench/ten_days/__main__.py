"""`make bench-ten-days DATA=folder`: the ten days of MemoryBank's people, as if lived, with the rehearsal model.

DATA is the folder of `memory_bank_en.json` and `memory_bank_cn.json`. Five people of each language talk for ten days,
each thing at its time; each night beat finds the session silent and closes it: each day must leave a diary entry, and at
most one revision of self-concept and profile each. Then everything that was written is looked at: it must name the
messages that it comes from, and each name, number and date in it must stand there. At last every job is run again, and
nothing may change. Calls a message count that of its reply, of which nobody is asked here; the tokens do not.
"""

import argparse
import sys
import time
from pathlib import Path

from bench.common.command import count
from bench.common.place import Place, asking
from bench.ten_days.reading import Person, people
from tests.fixtures.rehearsal import RehearsalServer

HEAD = (
    f"{'person':10} sessions  diary  revisions of self-concept  of profile  sentences  memories  unfounded"
    "  calls a message  tokens in, out a message  again"
)


def main() -> None:
    """Live, and print a line a person; ends with 1 where something is not right."""
    asked = _arguments()
    read = {
        language: people(asked.data / f"memory_bank_{language}.json", asked.people)
        for language in ("en", "cn")
    }
    began = time.monotonic()
    with RehearsalServer() as model, asking(model.url), Place():
        print(HEAD, flush=True)
        wrong = sum(not _lived(person) for persons in read.values() for person in persons)
    print(f"\n{'All is right' if not wrong else f'{wrong} not right'}, in {time.monotonic() - began:.0f} s.")
    sys.exit(bool(wrong))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.ten_days",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("data", type=Path, help="the folder with MemoryBank's files")
    parser.add_argument("--people", type=count, default=5, metavar="N", help="so many of each language")
    return parser.parse_args()


def _lived(person: Person) -> bool:
    from bench.ten_days.living import live
    from bench.ten_days.report import look

    lived = look(live(person))
    print(
        f"{person.name:10} {lived.sessions:8} {lived.entries:6} {lived.self_revisions:26}"
        f" {lived.profile_revisions:11} {lived.sentences:10} {lived.memories:9} {len(lived.unfounded):10}"
        f" {1 + lived.calls / lived.user_messages:16.2f} {lived.tokens_in / lived.user_messages:18.0f},"
        f" {lived.tokens_out / lived.user_messages:4.0f}  {'the same' if lived.is_same_again else 'CHANGED'}",
        flush=True,
    )
    for one in lived.unfounded[:5]:
        print(f"    unfounded: {one.what or 'no source'} in “{one.text}”")
    return lived.is_right(len(person.days))


if __name__ == "__main__":
    main()
