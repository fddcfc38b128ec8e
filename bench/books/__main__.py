"""`make bench-books`: do ten questions about a long book find their page?

A book of 60,000 words is made in English and one of 90,000 characters in Chinese: the same people, places and things
throughout, and ten happenings that are told once. The rehearsal model writes the gists. Each happening is
asked for three times: in other words throughout; by names and key words, as somebody asks who remembers who it was; and
as a reader asks a friend some weeks after the book.

The three sets are of unequal worth. The questions in other words were written before any of them was searched for; those
by names and key words were written afterwards, when it was known how the first had fared. Those a reader asks were
written without sight of the search or of the other questions.

Two things are counted apart: whether the page is among the six that are opened at once, and whether its gist is among
those that a model is shown for the question, so that it can ask for the page. Whether it would, no rehearsal can tell:
the rehearsal model takes whole sentences of the page for a gist, which seldom tell of what was told once.
"""

from bench.command import machine, parser
from bench.place import Place

SCENES = {"English": 132, "Chinese": 142}


def main() -> None:
    """Measure, and print as it goes."""
    asks = parser("books", __doc__)
    asks.add_argument("--seed", type=int, default=7, help="another book")
    asked = asks.parse_args()
    print(f"Kith on {machine()}")
    with Place():
        from bench.books.report import report

        for language, scenes in SCENES.items():
            report(language, scenes, asked.seed)


if __name__ == "__main__":
    main()
