"""`make bench-year`: a year of simulated days in which the model repeats every memory that it is shown.

A made-up person talks on most days, in English and Chinese, each thing at its time, through the code that answers in a
web process; sessions end by silence, and each night consolidates. The rehearsal model parrots what was recalled, and
wants to learn from its own words. Then all that is kept is looked at: nothing may come from a recall. With mem0 beside it
(installed into `.kith-peers`) the first exchanges of the same year are put to mem0's add().
"""

import argparse
import logging
import os
import sys
import time
from pathlib import Path
from random import Random

from bench.command import machine
from bench.counting import count
from bench.peers.__main__ import FOLDER
from bench.peers.venv import VenvError, python_with
from bench.place import Place
from bench.ten_days.__main__ import Asking
from providers.rehearsal.running import RehearsalServer

BUILT_IN = "embed by the built-in model; without it by the rehearsal model's words, many times as fast"


def main() -> None:
    """Live, and print; ends with 1 where something is not right."""
    asked = _arguments()
    began = time.monotonic()
    os.environ.setdefault(
        "PGOPTIONS", "-c synchronous_commit=off"
    )  # a year of turns, and nobody pulls the plug
    with RehearsalServer() as model, Asking(model.url):
        if not asked.built_in:
            os.environ |= {"EMBEDDING_BASE_URL": model.url, "EMBEDDING_MODEL": "rehearsal-embedding"}
        with Place():
            is_right = _measured(asked, model)
    print(
        f"\n{'All is right' if is_right else 'Not all is right'},"
        f" in {time.monotonic() - began:.0f} s; {machine()}"
    )
    sys.exit(not is_right)


def _measured(asked: argparse.Namespace, model: RehearsalServer) -> bool:
    is_right = _lived(asked, model)
    if asked.exchanges:
        _compare(asked)
    return is_right


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.year", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--days", type=count, default=365, metavar="N")
    parser.add_argument("--seed", type=int, default=4, metavar="N")
    parser.add_argument(
        "--exchanges", type=int, default=200, metavar="N", help="so many are put to mem0; 0: none"
    )
    parser.add_argument("--built-in", action="store_true", help=BUILT_IN)
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where mem0 is installed")
    return parser.parse_args()


def _lived(asked: argparse.Namespace, model: RehearsalServer) -> bool:
    from bench.year.life import Life
    from bench.year.living import live, parroting, someone
    from bench.year.report import report

    logging.disable(logging.INFO)
    with parroting(model):
        companion = live(someone(), Life(Random(asked.seed)).days(asked.days), _tell)
    return report(companion, asked.days)


def _tell(days: int) -> None:
    if days % 30 == 0:
        print(f"{days} days are over", file=sys.stderr, flush=True)


def _compare(asked: argparse.Namespace) -> None:
    """Print what mem0 takes; where it cannot be had, why."""
    from bench.peers.mem0 import PeerError
    from bench.year.peer import exchanges, told_to_mem0
    from companions.models import Companion
    from memory.spaces import serving_space

    space, told = serving_space(), exchanges(Companion.objects.get(), asked.exchanges)
    try:
        cost = told_to_mem0(python_with(asked.folder), told, space.width if space else 0)
    except (PeerError, VenvError) as error:
        print(f"mem0: {error}")
        return
    print(
        f"mem0ai {cost.version}, the first {len(told)} exchanges, each in one add(): {cost.calls:.2f} calls,"
        f" {cost.tokens_sent:,.0f} tokens sent, {cost.tokens_received:,.0f} received, {cost.embeddings:.2f} embeddings,"
        f" {cost.stored / len(told):.2f} memories stored, for each message of the person; with the answer"
        f" {1 + cost.calls:.2f} calls."
    )


if __name__ == "__main__":
    main()
