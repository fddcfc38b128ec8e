"""Measure the tick, or live through simulated days.

`tick`: a thousand and a million timers with none due, then many due at once, claimed and begun. Beside the claims the
bare statement is timed on the same rows: UPDATE … SET look_at … RETURNING id.
`days`: one companion's timers of every form, from due time to due time, with downtimes and workers that die; each due
time must have exactly one waking.
`kills`: timers that come due while four workers and two beats are killed with -9.
"""

import logging
import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from random import Random
from statistics import median
from time import perf_counter

from bench.common.command import count, machine, parser
from bench.common.place import Place
from bench.common.timing import measure
from tests.fixtures.rehearsal import RehearsalServer

ROUNDS = 3
LOOKS = 200
BARE = "UPDATE companions_timer SET look_at = %s WHERE state = 'active' AND look_at <= %s RETURNING id"


def main(arguments: Sequence[str]) -> int:
    """0 where claims are at least half as fast as the bare statement, and an idle tick at most three times as slow."""
    asked = parser("life", __doc__)
    asked.add_argument("what", nargs="?", choices=["tick", "days", "kills"], default="tick")
    asked.add_argument("--days", type=count, default=10_000, metavar="N")
    asked.add_argument("--kills", type=count, default=200, metavar="N")
    asked.add_argument("--seed", type=int, default=5, metavar="N")
    asked.add_argument("--timers", type=count, default=1_000_000, metavar="N")
    asked.add_argument("--due", type=count, default=100_000, metavar="N", help="how many are due at once")
    given = asked.parse_args(arguments)
    if given.what != "tick":
        return _lived(given.what, given.days, given.kills, given.seed)
    with Place():
        return _measured(given.timers, given.due)


def _lived(what: str, days: int, kills: int, seed: int) -> int:
    os.environ.setdefault("PGOPTIONS", "-c synchronous_commit=off")  # nobody pulls the plug
    with RehearsalServer() as model:
        os.environ |= {"LLM_BASE_URL": model.url, "LLM_MODEL": "rehearsal", "KITH_REHEARSAL": "1"}
        os.environ |= {"EMBEDDING_BASE_URL": model.url, "EMBEDDING_MODEL": "rehearsal-embedding"}
        with Place() as place:
            return _lived_through(days, seed) if what == "days" else _killed(place, kills, seed)


def _killed(place: Place, kills: int, seed: int) -> int:
    from bench.life.kills import live_among_kills

    came = live_among_kills(place, kills, Random(seed))
    say(f"{came.kills} kills over four workers and two beats; {came.due_times:,} due times meanwhile:")
    return _told(came.became, came.wrong, f"{came.said:,} messages said, {came.mails:,} mails sent.")


def _told(became: Counter[str], wrong: Sequence[str], more: str) -> int:
    for what, wakings in became.most_common():
        say(f"  {wakings:>7,} wakings {what}")
    say(more)
    for one in wrong[:20]:
        say(f"WRONG: {one}")
    say(f"{len(wrong)} things are wrong." if wrong else "Each due time has exactly one waking.")
    return bool(wrong)


def _lived_through(days: int, seed: int) -> int:
    from bench.common.rows import person
    from bench.life.days import Days

    began = perf_counter()
    logging.disable(logging.INFO)
    companion = person("nora").companion
    lived = Days(companion, datetime(2024, 1, 1, tzinfo=UTC), Random(seed)).live(days)
    say(f"{days:,} days of one companion in {companion.user.time_zone}, in {perf_counter() - began:.0f} s:")
    say(f"{lived.due_times:,} due times, {lived.downtimes:,} downtimes, {lived.deaths:,} workers that died.")
    return _told(lived.became, lived.wrong, "")


def _measured(timers: int, due: int) -> int:
    from django.utils import timezone

    from bench.life.filling import fill

    now = timezone.now()
    say(f"On {machine()}, embedded Postgres, one connection.")
    fill(1000, now)
    few = _idle(now)
    fill(timers, now)
    many = _idle(now)
    say(
        f"A tick with nothing due: {few:.3f} ms at 1,000 timers, {many:.3f} ms at {timers:,}: {many / few:.2f} times."
    )
    share = _claims(due, now)
    return 0 if many <= 3 * few and share >= 0.5 else 1


def _idle(now: datetime) -> float:
    """Milliseconds of one claim that finds nothing, the median."""
    from companions.life.timers.timers import claim_timers

    return median(measure(claim_timers, now, 1000) for _look in range(LOOKS))


def _claims(due: int, now: datetime) -> float:
    """The share of the bare statement's speed that claims have."""
    from django.db import connection

    from bench.life.filling import come_due
    from companions.life.timers.timers import CLAIMED_AT_ONCE, claim_timers

    bare, claimed = [], []
    for _round in range(ROUNDS):
        come_due(due, now)
        with connection.cursor() as cursor:
            bare.append(
                measure(lambda: (cursor.execute(BARE, [now + timedelta(minutes=2), now]), cursor.fetchall()))
            )
        come_due(due, now)
        claimed.append(measure(lambda: _all(lambda: claim_timers(now, CLAIMED_AT_ONCE))))
    a_second, bare_a_second = due / median(claimed) * 1000, due / median(bare) * 1000
    share = a_second / bare_a_second
    say(f"{due:,} due at once: {a_second:,.0f} claimed a second, {CLAIMED_AT_ONCE:,} at a time;")
    say(f"the bare UPDATE … RETURNING of the same rows {bare_a_second:,.0f}: claims have {share:.0%} of it.")
    _begin(due, now)
    return share


def _begin(due: int, now: datetime) -> None:
    from bench.life.filling import come_due
    from companions.life.timers.timers import BEGUN_AT_ONCE, begin_wakings, claim_timers

    come_due(due, now)
    ids = claim_timers(now, min(due, 5000))
    parts = [ids[n : n + BEGUN_AT_ONCE] for n in range(0, len(ids), BEGUN_AT_ONCE)]
    took = measure(lambda: [begin_wakings(part, now) for part in parts])
    say(
        f"Begun, with a waking each and the timer set to its next day: {len(ids) / took * 1000:,.0f} a second."
    )


def _all(take: Callable[[], Sequence[object]]) -> None:
    while take():
        pass


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
