"""A short book in which each page tells of something of its own."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from companions.memories.editing import give_document
from companions.models import Companion
from memory.documents.gists import write_gists
from memory.models import Document

NOON = datetime(2024, 3, 1, 12, tzinfo=UTC)
HAPPENINGS = (
    "The lighthouse keeper Odran lost his brass telescope over the cliff at Skerry Point.",
    "Old Pell sold the grey mare to a tinker for eleven silver coins.",
    "In the cellar of the bakery Ysolde found a crate of letters from her grandmother.",
    "A hailstorm broke all the panes of the glasshouse on the feast of the apples.",
    "The mayor Brandt lost the election by three votes and left for the harbour.",
    "Two boys built a raft of wine barrels and drifted as far as the salt works.",
    "The bell of the chapel cracked on a frosty morning and was melted down.",
    "A stranger with a monkey played the accordion at the wedding of Tamsin.",
    "The miller taught his daughter to read the stars from the roof of the mill.",
    "Doctor Ames cured the cooper of a fever with willow bark and honey.",
)
FILLER = "The days went by as they do there, with wind from the sea and little to tell. "
Give = Callable[..., Document]


def book(count: int = 10) -> str:
    """So many chapters, each a page with one happening."""
    chapters = (
        f"Chapter {n + 1}\n\n{FILLER * 12}{HAPPENINGS[n % 10]} {FILLER * 14}\n\n" for n in range(count)
    )
    return "".join(chapters)


@pytest.fixture
def given(mira: Companion) -> Give:
    """Gives Mira a book; the document."""

    def give(title: str = "The coast", count: int = 10, text: str = "") -> Document:
        return give_document(mira, title, text or book(count), NOON)

    return give


def write_all(document: Document, now: datetime = NOON) -> int:
    """Write gists until nothing comes; how many pages got one."""
    total = 0
    while done := write_gists(document.pk, now):
        total += done
    return total
