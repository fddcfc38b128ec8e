"""Kith and mem0 beside each other."""

from collections.abc import Mapping, Sequence

from bench.peers import kith, mem0
from bench.recall.measures import DEPTHS, GIVEN, Answer, by_category, measure, median_and_p95
from bench.recall.tables import Row, percent, table

QUALITY = [*(f"@{depth}" for depth in DEPTHS), f"all@{GIVEN}", "MRR"]
COST = [
    "search",
    "p95",
    "its embedding",
    "adding a message",
    "p95",
    "model calls",
    "tokens to it",
    "embeddings",
]


def quality(ways: Mapping[str, Sequence[Answer]], *, is_markdown: bool) -> str:
    """The shares of evidence that each way found, in per cent."""
    rows = []
    for name, answers in ways.items():
        one = measure(answers)
        rows.append([name, *map(percent, one.shares), percent(one.whole), f"{one.mrr:.3f}"])
    return table(["way", *QUALITY], rows, is_markdown=is_markdown)


def categories(ways: Mapping[str, Sequence[Answer]], *, is_markdown: bool) -> str:
    """Each way's share at ten, a row for each category."""
    by_way = [by_category(answers) for answers in ways.values()]
    at = DEPTHS.index(GIVEN)
    rows = [[name, *(percent(way[name].shares[at]) for way in by_way)] for name in by_way[0]]
    return table([f"@{GIVEN} by category", *ways], rows, is_markdown=is_markdown)


def cost(own: kith.Outcome, others: Mapping[str, mem0.Outcome], *, is_markdown: bool) -> str:
    """Milliseconds (medians, and 95th percentiles), and what a message that is added takes."""
    rows = [_row("Kith", own.searching, own.embedding, own.adding, ["0", "0", "1"])]
    for name, one in others.items():
        calls = [f"{one.model_calls:.2f}", f"{one.model_tokens:,.0f}", f"{one.embedding_calls:.2f}"]
        rows.append(_row(name, one.searching, one.embedding, one.adding, calls))
    return table(["milliseconds, and per message", *COST], rows, is_markdown=is_markdown)


def _row(
    name: str, search: Sequence[float], embedding: Sequence[float], adding: Sequence[float], calls: Row
) -> Row:
    searched, added = median_and_p95(search), median_and_p95(adding)
    times = [*searched, median_and_p95(embedding)[0], *added]
    return [name, *(f"{one:.1f}" for one in times), *calls]
