"""The run, from the first companion to the million memories, told as it goes."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection

from bench.scale import tables
from bench.scale.asking import ask, cues
from bench.scale.figures import Figures
from bench.scale.filling import live, settle, tell
from bench.scale.plans import plans
from companions.models import Companion
from memory.embedding.spaces import find_serving_space
from memory.models import Memory

EACH = 1_000
FEW = 10  # companions that are talked to really
WARM_UP = 5  # the first recalls find everything cold
SEED = 20


class Report:
    """Few companions, then larger ones, then many; each asked the same cues."""

    def __init__(self, *, cues_asked: int, is_markdown: bool, is_explained: bool) -> None:
        self._cues = cues(cues_asked, SEED)
        self._is_markdown, self._is_explained = is_markdown, is_explained
        self._few: list[Companion] = []
        self._large: dict[int, Companion] = {}
        self._before: list[Figures] = []

    def few(self) -> None:
        """Ten companions of a thousand memories each, alone in the database."""
        with _step(f"{FEW} companions of {EACH:,} memories each, talked to"):
            first = live("few0", EACH, SEED)
            self._few = [first, *(live(f"few{n}", EACH, SEED + n, first) for n in range(1, FEW))]
            settle()
        print(f"Embedder: {find_serving_space()}. {len(self._cues)} cues each; milliseconds, median and p95.")
        self._before = self._among_others(self._few)
        self._print(f"{self._in_all()} in all", self._before)

    def sizes(self, sizes: Sequence[int]) -> None:
        """One companion of each size; those of a thousand are there already."""
        self._large = {EACH: self._few[0]}
        for size in sizes:
            if size != EACH:
                with _step(f"A companion of {size:,} memories, talked to"):
                    self._large[size] = live(f"large{size}", size, SEED + size, self._few[0])
        settle()
        measured = {size: self._asked(f"{size:,}", [one]) for size, one in self._large.items()}
        self._print("one companion of", list(measured.values()))
        print("\n".join(["", *tables.nearness(measured)]))
        self._explain()

    def many(self, total: int) -> None:
        """So many memories in all in companions of a thousand, with the larger ones still there."""
        count = max(0, total // EACH - FEW)
        with _step(f"{count:,} more companions of {EACH:,} memories each, told what those first ones were"):
            told = tell(self._few, count, SEED)
            settle()
        after = self._among_others([*self._few, *told])
        self._print(f"{self._in_all()} in all", after)
        print()
        for before, now in zip(self._before, after, strict=True):
            print(tables.growth(now.label, before, now))
        again = [self._asked(f"{size:,}", [one]) for size, one in self._large.items()]
        self._print("one companion of", again)
        self._explain()

    def disk(self) -> None:
        """What all of it takes on the disk."""
        sizes = {
            name: _bytes(f"pg_total_relation_size('{name}')")
            for name in ("memory_memory", "memory_embedding")
        }
        everything = _bytes("pg_database_size(current_database())")
        log = _bytes("(SELECT sum(size) FROM pg_ls_waldir())")
        parts = ", ".join(f"{name} {size / 1e6:,.0f} MB" for name, size in sizes.items())
        print(
            f"\nOn the disk: {everything / 1e6:,.0f} MB ({parts}), and {log / 1e6:,.0f} MB of write-ahead log."
        )

    def _among_others(self, companions: Sequence[Companion]) -> list[Figures]:
        """The first companion asked again and again, and each cue put to another one, as life does."""
        apart = companions[:: max(1, len(companions) // len(self._cues))]
        return [
            self._asked("the same companion", companions[:1]),
            self._asked("each time another", apart, warm_up=0),
        ]

    def _asked(self, label: str, companions: Sequence[Companion], warm_up: int = WARM_UP) -> Figures:
        ask(companions, self._cues[:warm_up])
        return Figures.of(label, ask(companions, self._cues))

    def _in_all(self) -> str:
        return f"{Memory.objects.count():,}"

    def _print(self, name: str, every: Sequence[Figures]) -> None:
        print(f"\n{tables.times(name, every, is_markdown=self._is_markdown)}")
        print(f"\n{tables.statements(name, every, is_markdown=self._is_markdown)}", flush=True)

    def _explain(self) -> None:
        if self._is_explained:
            for size, companion in self._large.items():
                print(f"\nThe plans at {size:,} memories:\n")
                print("\n\n".join(plans(companion, self._cues[0])), flush=True)


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Say what is made, and what it took."""
    began = time.monotonic()
    print(f"\n{what} ...", end=" ", flush=True)
    yield
    print(f"{time.monotonic() - began:.0f} s", flush=True)


def _bytes(expression: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {expression}")
        return int(cursor.fetchone()[0])
