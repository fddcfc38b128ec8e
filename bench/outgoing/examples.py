"""Labelled texts: those given in halves, and those written in addition, on which no figure is ever measured."""

from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
GIVEN = HERE.parents[1] / "tests" / "fixtures" / "outgoing"


@dataclass(frozen=True, slots=True)
class Example:
    """A text, and whether it is to be held back."""

    text: str
    is_held: bool


def fit_half(language: str) -> list[Example]:
    """The half from which the check is made; `language` is en or zh."""
    return read(GIVEN / f"{language}_fit.tsv")


def aside_half(language: str) -> list[Example]:
    """The half that nothing is ever chosen by: for the last measurement."""
    return read(GIVEN / f"{language}_aside.tsv")


def more(language: str) -> list[Example]:
    """The additional ones."""
    return read(HERE / f"{language}_more.tsv")


def read(path: Path) -> list[Example]:
    """The file's examples: a label, a tab, a text."""
    rows = [line.split("\t", 1) for line in path.read_text().splitlines() if line]
    return [Example(text, label == "held") for label, text in rows]
