"""The run: Kith, then each way of mem0's, then the tables."""

from collections.abc import Sequence
from pathlib import Path

from bench.peers import tables
from bench.peers.kith import ask_kith
from bench.peers.mem0 import WAYS, Outcome, PeerError, ask_mem0
from bench.recall.measures import DEPTHS, GIVEN, measure, median_and_p95
from bench.recall.tables import percent
from bench.recall.talk import Talk
from memory.embedding.spaces import find_serving_space


def report(python: Path, talks: Sequence[Talk], *, is_markdown: bool, is_quick: bool) -> None:
    """Ask everybody, print who found what and what it took; who fails is left out, with the reason."""
    own = ask_kith(talks)
    space = find_serving_space()
    others: dict[str, Outcome] = {}
    for way in WAYS[:1] if is_quick else WAYS:
        try:
            others[way.label] = ask_mem0(python, talks, way, space.width if space else 0)
        except PeerError as error:
            print(f"{way.label}: {error}", flush=True)
            continue
        print(_said(way.label, others[way.label]), flush=True)
    ways = {"Kith": own.answers} | {name: one.answers for name, one in others.items()}
    print(f"\nEmbedder: {space}. Shares of a question's evidence in per cent.")
    print(f"\n{tables.quality(ways, is_markdown=is_markdown)}")
    print(f"\n{tables.categories(ways, is_markdown=is_markdown)}")
    print(f"\n{tables.cost(own, others, is_markdown=is_markdown)}")
    kept = median_and_p95(own.keeping)[0]
    print(f"\nOf a message that Kith adds, talk waits for {kept:.1f} ms: it is embedded in the background.")


def _said(label: str, one: Outcome) -> str:
    signals = ", ".join(one.signals) or "nothing"
    shares, search = measure(one.answers).shares, median_and_p95(one.searching)[0]
    found = f"{percent(shares[DEPTHS.index(GIVEN)])} % @{GIVEN}, {search:.1f} ms a search"
    return f"{label} (mem0ai {one.version}): {one.stored:,} memories stored; what scored: {signals}; {found}"
