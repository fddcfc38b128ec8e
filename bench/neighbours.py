"""`make bench-neighbours`: is what a companion knew already put beside what is said again in other words?

Two hundred pairs in English and two hundred in Chinese, each an old memory and a new statement about the same, were
written before any search had seen them. All old ones of a language lie in one companion; the new ones are offered as
they are in talk: eight things that a user says in a digest, here each of another subject, which is the hardest case.
"""

import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.command import machine, parser
from bench.place import Place

HERE = Path(__file__).parent
LANGUAGES = {"en": "English", "cn": "Chinese"}
TURNS = 8
BEGAN = datetime(2023, 5, 2, 9, tzinfo=UTC)
NOW = BEGAN + timedelta(days=60)


def pairs(language: str) -> list[tuple[str, str]]:
    """The pairs of one language ("en" or "cn"): what is known, and what is said."""
    lines = (HERE / f"paraphrases_{language}.tsv").read_text().splitlines()
    return [(old, new) for old, new in (line.split("\t") for line in lines)]


def offered(language: str, lines: int) -> Iterator[tuple[str, str, bool]]:
    """Each pair of the language, with whether its old memory is offered when so many new ones come together."""
    from bench.recall.storing import person
    from companions.making import create
    from memory.embedding import embed_waiting
    from memory.keeping import keep_fact
    from memory.learning.neighbours import neighbours

    every = pairs(language)
    user = person(f"{language}{lines}", "Emily" if language == "en" else "小林")
    companion = create(user, name="Juno", persona="", greeting="", tint=40, now=BEGAN)
    names = {"user": user.name, "companion": companion.name}
    for n, (old, _) in enumerate(every):
        keep_fact(companion.pk, old, BEGAN + timedelta(hours=n), NOW)
    embed_waiting(companion.pk)
    for batch in _batches(every, lines):
        said = [new for _, new in batch]
        found = {one.text for one in neighbours(companion.pk, said, now=NOW, zone=UTC, names=names)}
        yield from ((old, new, old in found) for old, new in batch)


def _batches(every: Sequence[tuple[str, str]], lines: int) -> Iterator[Sequence[tuple[str, str]]]:
    for first in range(0, len(every), lines):
        yield every[first : first + lines]


def main() -> None:
    """Measure, and print as it goes."""
    asks = parser("neighbours", __doc__)
    asks.add_argument(
        "--missed", action="store_true", help="print the pairs whose old memory was not offered"
    )
    asked, began = asks.parse_args(), time.monotonic()
    print(f"200 pairs in each language; {machine()}", flush=True)
    with Place():
        from memory.learning.neighbours import BY_MEANING, BY_WORDS, MOST_NEIGHBOURS

        print(f"At most {MOST_NEIGHBOURS} of 200 are offered in all, {BY_MEANING + BY_WORDS} for a line.")
        for language, name in LANGUAGES.items():
            for lines in (TURNS, 1):
                pairs_offered = list(offered(language, lines))
                share = sum(found for *_, found in pairs_offered) / len(pairs_offered)
                print(
                    f"{name}, {lines} said together: {share:.1%} of the old memories are offered", flush=True
                )
                if asked.missed:
                    print(*(f"  {old} <- {new}" for old, new, found in pairs_offered if not found), sep="\n")
    print(f"Measured in {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    main()
