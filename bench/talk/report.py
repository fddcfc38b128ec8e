"""What the bench of talks prints."""

from collections.abc import Iterable, Sequence

from bench.recall.tables import percent, table
from bench.talk.talking import Asked, Told

MOST_OF_OTHERS = 2
DEPTHS = (1, 2, 3, 4, 5, 6, 8, 10)


def show(name: str, told: Sequence[Told], *, is_markdown: bool = False) -> None:
    """A row for each companion and one for all of them, and the curve of evidence against memories shown."""
    print(f"\n{name}: shares of evidence in the prompt as sent, in per cent")
    head = [
        *("companion", "questions", "first time", "second time", "recall @10", "shown", "tokens"),
        *("remark shows", "at most", "tokens", "others' questions", f"show ≤ {MOST_OF_OTHERS}", "on average"),
    ]
    rows = [_row(one.subject.name, [one]) for one in told] if len(told) <= 10 else []
    print(table(head, [*rows, _row("all", told)], is_markdown=is_markdown), flush=True)
    first = [asked for one in told for asked in one.first]
    curve = [percent(_mean(_share_at(one, depth) for one in first)) for depth in DEPTHS]
    print(
        f"\n{table(['memories read of those shown', *map(str, DEPTHS)], [['evidence', *curve]], is_markdown=is_markdown)}"
    )


def _row(name: str, told: Sequence[Told]) -> list[str]:
    first = [asked for one in told for asked in one.first]
    second = [asked for one in told for asked in one.second]
    remarks = [n for one in told for n in one.remarks]
    others = [n for one in told for n in one.others]
    return [
        name,
        str(len(first)),
        percent(_mean(one.share for one in first)),
        percent(_mean(one.share for one in second)),
        percent(_mean(one.found for one in first)),
        f"{_mean(one.shown for one in [*first, *second]):.1f}",
        f"{_mean(one.tokens for one in [*first, *second]):.0f}",
        f"{_mean(remarks):.2f}",
        str(max(remarks, default=0)),
        f"{_mean(n for one in told for n in one.remark_tokens):.0f}",
        str(len(others)),
        percent(_mean(n <= MOST_OF_OTHERS for n in others)),
        f"{_mean(others):.1f}",
    ]


def _share_at(asked: Asked, depth: int) -> float:
    """The share of the evidence among the first so many of what was remembered."""
    return min(sum(rank <= depth for rank in asked.ranks) / asked.parts, 1.0)


def _mean(values: Iterable[float]) -> float:
    every = list(values)
    return sum(every) / len(every) if every else 0.0
