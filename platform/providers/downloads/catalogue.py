"""The models that Kith offers to fetch, from catalogue.toml."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

TABLE = Path(__file__).with_name("catalogue.toml")
MEMORY_SHARE = 0.85  # of the machine's memory, at most: the rest of Kith and other programs need some


@dataclass(frozen=True, slots=True)
class CatalogueModel:
    """A model: its file's address and size, its licence, and about how much memory it needs.

    `sha256` is empty if nobody has verified the address.
    """

    name: str
    purpose: str  # chat or embedding
    languages: tuple[str, ...]  # codes of the languages that it was mainly made for
    licence: str
    url: str
    size_bytes: int
    memory_bytes: int
    more_languages: int = 0  # about how many others it knows
    sha256: str = ""

    def fits(self, memory_bytes: int) -> bool:
        """Return whether a machine with so much memory can run it."""
        return self.memory_bytes <= memory_bytes * MEMORY_SHARE


@cache
def load_catalogue() -> tuple[CatalogueModel, ...]:
    """Return the models in the table's order."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    return tuple(
        CatalogueModel(**{**model, "languages": tuple(model["languages"])}) for model in table["model"]
    )


def sort_by_fit(memory_bytes: int) -> list[CatalogueModel]:
    """Return the models, first those that fit a machine with so much memory."""
    return sorted(load_catalogue(), key=lambda model: not model.fits(memory_bytes))


def find_model(url: str) -> CatalogueModel | None:
    """Return the catalogue's model at that address, or None if there is none."""
    return next((model for model in load_catalogue() if model.url == url), None)
