"""The figures as tables and sentences."""

from collections.abc import Sequence

from bench.recall.tables import Row, table
from bench.scale.figures import (
    AIMED_AT,
    MOST_MORE,
    MOST_TIMES,
    MOST_TIMES_CROWDED,
    Figures,
    parts,
    told,
)

TIMED = ("sql", "bare", "recall", "embedding", "whole")
HEAD = [*("SQL", "p95", "bare", "p95", "recall", "p95", "cue", "p95", "both", "p95"), "SQL/bare", "SQL-bare"]


def times(name: str, every: Sequence[Figures], *, is_markdown: bool) -> str:
    """Medians, each with its 95th percentile, of all that was timed; a row for each set of cues."""
    return table([name, *HEAD], [_row(one) for one in every], is_markdown=is_markdown)


def statements(name: str, every: Sequence[Figures], *, is_markdown: bool) -> str:
    """The medians of recall's statements, and of what it does itself meanwhile."""
    count = max(len(one.parts) for one in every)
    rows = [[one.label, *_padded(one.parts, count), f"{one.recall[0] - one.sql[0]:.1f}"] for one in every]
    return table([name, *parts(count), "Python"], rows, is_markdown=is_markdown)


def nearness(sizes: dict[int, Figures]) -> list[str]:
    """For each size that has a target, how far recall's SQL is from the bare search."""
    aim = f"target: at most {MOST_TIMES:.0f} times, or at most {MOST_MORE:.0f} ms more"
    return [
        f"SQL at {size:,} memories: {one.times:.1f} times the bare search, {one.more:+.1f} ms"
        f" ({aim}): {told(one.is_near)}"
        for size, one in sizes.items()
        if size in AIMED_AT
    ]


def growth(what: str, before: Figures, after: Figures) -> str:
    """How much longer recall takes among all the others."""
    times = after.grown(before)
    sql = after.sql[0] / before.sql[0]
    return (
        f"{what}: recall takes {times:.2f} times as long as before, its SQL {sql:.2f} times"
        f" (target: at most {MOST_TIMES_CROWDED} times): {told(times <= MOST_TIMES_CROWDED)}"
    )


def _row(one: Figures) -> Row:
    timed = [f"{value:.1f}" for name in TIMED for value in getattr(one, name)]
    return [one.label, *timed, f"{one.times:.1f}", f"{one.more:+.1f}"]


def _padded(values: Sequence[float], count: int) -> list[str]:
    return [f"{value:.1f}" for value in values] + [""] * (count - len(values))
