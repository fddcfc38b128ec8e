"""What the benches' commands have in common: how they are asked, and what they say of the machine and the data."""

import argparse
import os
import platform
from collections.abc import Sequence
from pathlib import Path

from bench.recall.talk import Talk


def count(text: str) -> int:
    """Return a whole number from 1 on, for argparse."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def parser(bench: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of `python -m bench.…`, whose tables can be had for the docs."""
    made = argparse.ArgumentParser(
        prog=f"python -m bench.{bench}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--markdown", action="store_true", help="print the tables for docs/recall.md")
    return made


def parser_of_talks(bench: str, description: str | None) -> argparse.ArgumentParser:
    """Return the parser of a bench whose data are conversations."""
    made = parser(bench, description)
    made.add_argument("data", type=Path, nargs="+", help="files, or folders of them")
    made.add_argument("--conversations", type=count, metavar="N", help="only the first N conversations")
    return made


def machine() -> str:
    """Return this machine in words."""
    return f"{os.cpu_count()} cores ({platform.machine()}, Python {platform.python_version()})"


def amount(talks: Sequence[Talk]) -> str:
    """Return in words how much these conversations are."""
    turns, questions = sum(len(talk.turns) for talk in talks), sum(len(talk.questions) for talk in talks)
    return f"{len(talks)} conversations, {turns:,} turns, {questions:,} questions with evidence"
