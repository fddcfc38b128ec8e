"""What the bench prints."""

from collections.abc import Mapping, Sequence

from bench.recall import asking, pool
from bench.recall.measures import DEPTHS, GIVEN, Answer, Measures, by_category, measure, median_and_p95
from bench.recall.storing import store_all
from bench.recall.tables import Row, percent, table
from bench.recall.talk import Talk
from memory.embedding.spaces import find_serving_space

AT_GIVEN = DEPTHS.index(GIVEN)
WARM_UP = 5  # the first recalls find everything cold
HEAD = [*(f"@{depth}" for depth in DEPTHS), f"all@{GIVEN}", "MRR"]


class Report:
    """The talks, stored and asked about, and tables of how well and how fast that went."""

    def __init__(self, talks: list[Talk], *, is_markdown: bool, form: str = "") -> None:
        self._is_markdown = is_markdown
        self._stored = store_all(talks, form)
        self._cues = asking.cues(self._stored)
        asking.answers(self._cues[:WARM_UP])
        self._timed = asking.answers(self._cues)

    def quality(self) -> None:
        """The shares of evidence: Kith beside the plain ways, and by category."""
        kith = [one.answer for one in self._timed]
        ways = {"Kith": kith} | asking.plain_answers(self._cues)
        print(f"\nEmbedder: {find_serving_space() or 'none'}. Shares of a question's evidence in per cent.")
        tokens = f"tokens of {GIVEN}"
        measured = {name: measure(answers) for name, answers in ways.items()}
        rows = [[name, *_figures(one), f"{one.tokens:.0f}"] for name, one in measured.items()]
        self._print("way", [*HEAD, tokens], rows)
        categories = by_category(kith)
        rows = [[name, str(one.questions), *_figures(one)] for name, one in categories.items()]
        self._print("Kith by category", ["questions", *HEAD], rows)
        self._print(f"@{GIVEN} by category", list(ways), _columns(ways))

    def speed(self) -> None:
        """Milliseconds of recalling, and of embedding the cue."""
        recalling = [one.milliseconds for one in self._timed]
        embedding = [cue.milliseconds for cue in self._cues]
        both = [sum(pair) for pair in zip(recalling, embedding, strict=True)]
        named = {"recall": recalling, "embedding of the cue": embedding, "both": both}
        rows = [[name, *(f"{one:.1f}" for one in median_and_p95(values))] for name, values in named.items()]
        self._print("milliseconds", ["median", "95th percentile"], rows)

    def pool(self, *, is_alone: bool) -> None:
        """Every question of every wrong companion, and on wish the right one's results with nobody else there."""
        asked, strange = pool.ask_everyone(self._stored, self._cues)
        print(
            f"\nPool: {asked:,} recalls of wrong companions gave {strange} results from elsewhere.",
            flush=True,
        )
        if is_alone:
            changed = pool.changed_alone(self._cues)
            print(
                f"With all others absent {len(changed)} of {len(self._cues):,} questions found anything else."
            )

    def _print(self, name: str, head: Row, rows: Sequence[Row]) -> None:
        print(f"\n{table([name, *head], rows, is_markdown=self._is_markdown)}", flush=True)


def _figures(measured: Measures) -> list[str]:
    return [*map(percent, measured.shares), percent(measured.whole), f"{measured.mrr:.3f}"]


def _columns(ways: Mapping[str, Sequence[Answer]]) -> list[Row]:
    """A row a category, with each way's share at ten."""
    by_way = [by_category(answers) for answers in ways.values()]
    return [[name, *(percent(way[name].shares[AT_GIVEN]) for way in by_way)] for name in by_way[0]]
