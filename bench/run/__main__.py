"""`make bench`: what Kith adds to a provider's answer, how many streams it carries, what it holds in memory when idle.

Everything is started here and ended here, in a folder of its own: Postgres, Valkey, the rehearsal model, a provider
that only streams (source.py), and Kith's web and worker processes as `make up` starts them.
"""

import argparse
import asyncio
import os
import random
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import numpy as np
import psutil

from bench.common.command import machine
from bench.common.place import Place, megabytes, printing_its_port
from bench.run import idle
from config.up.ports import is_answering
from config.up.processes import Program
from config.up.run import web_program, worker_program
from tests.fixtures.rehearsal import RehearsalServer

if TYPE_CHECKING:
    from bench.run.load import Load

PARTS = ("idle", "first", "streams")
MEMORIES = 10_000
PAIRS = 50
RATE = 20
RATES = (40, 60, 80, 100, 150, 200, 250, 300, 400)
STREAM_SECONDS = 20.0
STEP_SECONDS = 5.0
START_SECONDS = 90.0  # 200 turns begin meanwhile, each taking up to a quarter of a second of one core
EMBEDDED = 600
SEED = 20


def main() -> None:
    """Measure, and print as it goes."""
    asked = _arguments()
    began = time.monotonic()
    print(f"Kith on {machine()}, seed {SEED}")
    print(
        f"Load average before: {os.getloadavg()[0]:.2f} (a machine that does nothing else gives the truest figures)"
    )
    if "idle" in asked.only:
        idle.run(asked.quiet)
    with Place() as place:
        if "first" in asked.only:
            measure_first_piece(place, asked.memories, asked.pairs)
        if "streams" in asked.only:
            measure_streams(place, asked.seconds)
    print(f"\nMeasured in {time.monotonic() - began:.0f} s.")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.run", description=__doc__)
    parser.add_argument("--memories", type=int, default=MEMORIES)
    parser.add_argument("--pairs", type=int, default=PAIRS)
    parser.add_argument(
        "--seconds", type=float, default=STREAM_SECONDS, help="of the 200 streams at 20 a second"
    )
    parser.add_argument(
        "--quiet", type=int, default=idle.QUIET_SECONDS, help="seconds before an idle Kith is measured"
    )
    parser.add_argument("--only", choices=PARTS, nargs="*", default=PARTS)
    return parser.parse_args()


def measure_first_piece(place: Place, memories: int, pairs: int) -> None:
    """Time to the first piece, beside the same request made straight."""
    from bench.common import rows
    from bench.run import first_piece
    from memory.embedding import embed_waiting

    chance = random.Random(SEED)
    someone = rows.person("someone")
    began = time.monotonic()
    rows.live_through(someone.companion, memories, chance)
    kept = time.monotonic()
    embedded = embed_waiting(someone.companion.pk, EMBEDDED)
    each = (time.monotonic() - kept) / max(1, embedded) * 1000
    lent = rows.lend_vectors(someone.companion, np.random.default_rng(SEED)) if embedded else 0
    rows.count_anew()
    print(
        f"\n{memories} memories kept in {kept - began:.1f} s; {embedded} embedded at {each:.1f} ms each,",
        end=" ",
    )
    print(
        f"the vectors of the other {lent} are those, each a little turned (so that this does not take minutes)"
    )
    with ExitStack() as running:
        rehearsal = running.enter_context(RehearsalServer())
        running.enter_context(place.running(worker_program()))
        _, port = running.enter_context(place.web(web_program, rehearsal.url, "rehearsal"))
        measured = asyncio.run(first_piece.measure(port, someone, rehearsal, pairs, chance))
    print(f"\nTime to the first piece, {len(measured)} pairs by turns, in milliseconds{'':12}median     p95")
    _row("through Kith's socket", [pair.through_kith for pair in measured])
    _row("the same request straight, openai SDK", [pair.straight for pair in measured])
    _row("added by Kith (target: median at most 100)", [pair.added for pair in measured])
    print("  of which, median:")
    for name, part in first_piece.explain(measured).items():
        print(f"    {name:<58}{part:>8.1f}")


def _row(name: str, values: list[float]) -> None:
    print(f"  {name:<60}{np.median(values):>8.1f}{np.percentile(values, 95):>8.1f}")


def measure_streams(place: Place, seconds: float) -> None:
    """200 streams at 20 pieces a second, then ever more a second, until they are not kept up with."""
    from bench.run import load

    print(
        f"\n{load.STREAMS} streams at once: a piece's delay from the provider to the client, in milliseconds;"
    )
    print("each process's share of a core (the client, the provider and Kith share this machine)")
    print(f"{'':28}{'asked/s':>9}{'got/s':>9}{'frames/s':>9}{'median':>8}{'p95':>8}{'p99':>8}{'grown/s':>8}")
    steps = [(RATE, seconds), *((rate, STEP_SECONDS) for rate in RATES)]
    with printing_its_port("bench.run.source") as (source, source_port):
        straight = load.straight(source_port, steps, 3, provider=source)
        _lines("straight from the provider", straight)
        with place.web(web_program, f"http://127.0.0.1:{source_port}/v1", "source") as (child, port):
            web = psutil.Process(child.pid)
            stores = {name: psutil.Process(getattr(place.stores, name).pid) for name in ("redis", "postgres")}
            before = megabytes(web)
            first = load.through_kith(port, steps[:1], START_SECONDS, web=web, provider=source, **stores)
            after = megabytes(web)
            kith = load.through_kith(port, steps[1:], START_SECONDS, web=web, provider=source, **stores)
            child.kill()  # what is still under way after the last step is not waited for
        _lines("through Kith", first)
        _lines("", kith)
    with place.running(_bare(port), lambda _: is_answering(port)) as child:
        bare = load.through_bare(port, steps, 3, web=psutil.Process(child.pid))
    _lines("bare ASGI socket", bare)
    _sum_up(first, kith, bare, straight)
    print(
        f"  Memory of the web process: {before:.0f} MB before and {after:.0f} MB after those {load.STREAMS} streams."
    )


def _sum_up(first: "Load", kith: "Load", bare: "Load", straight: "Load") -> None:
    """The figures that were asked for."""
    from bench.run.load import KEPT_SHARE, MOST_GROWN, MOST_MILLISECONDS, STREAMS

    added = first.report.steps[0].p95 - straight.report.steps[0].p95
    print(f"\n  Added to a piece by Kith at {RATE} pieces a second on each, 95th percentile: {added:.1f} ms.")
    carried, most = kith.kept() or first.kept(), bare.kept()
    print(
        f"  Kept up with: Kith {carried * STREAMS} pieces a second, the bare socket {most * STREAMS},",
        end=" ",
    )
    print(f"client and provider {straight.kept() * STREAMS}.")
    print(f"  Kith carries {carried / most if most else 0:.0%} of the bare socket's (target: at least 50 %).")
    print(f"  Kept up with: {KEPT_SHARE:.0%} of the pieces are made and come, half of them within", end=" ")
    print(
        f"{MOST_MILLISECONDS / 2:.0f} ms and 95 % within {MOST_MILLISECONDS:.0f} ms, and the median grows by",
        end=" ",
    )
    print(f"{MOST_GROWN:.0f} ms a second at most.")


def _bare(port: int) -> Program:
    """The bare socket, served as Kith's web process is."""
    return Program("bare", [sys.executable, "-m", "bench.run.bare", str(port)])


def _lines(name: str, done: "Load") -> None:
    report = done.report
    for step, shares in zip(report.steps, done.shares, strict=True):
        told = ", ".join(f"{process} {share:.2f}" for process, share in shares.items())
        print(
            f"  {name:<26}{step.streams * step.rate:>9}{step.pieces_per_second:>9.0f}{step.frames_per_second:>9.0f}"
            f"{step.median:>8.1f}{step.p95:>8.1f}{step.p99:>8.1f}{step.grown:>8.1f}  {told}"
        )
        name = ""
    streams = report.steps[0].streams
    if report.whole < streams or report.late:
        print(
            f"    ({streams - report.whole} streams were caught up from what is kept, {report.late} began late)"
        )


if __name__ == "__main__":
    main()
