"""The talks of the corpus: what was said, what a model says of it, and what is true."""

import json
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zlib import crc32

FOLDER = Path(__file__).parent / "corpus"
# How a false entry was meant, by words of the reason for which it is false; what is not listed was meant as it was said.
MEANT = {
    "role_play": "role-play|role in|character|novel|fiction|ruth's|story",
    "irony": "sarcas|iron|mocked|scorn",
    "if": "hypothet|imagin|counterfactual|condition|only if|if i could|daydream|did not take",
    "quotation": "lyric|quot|saying|song|headline|words",
    "question": "question|asked",
    "request": "request",
    "joke": "jok|teas|fool|prank|quip|exagger|figure of speech|counting sheep|literally|trivial|play with|tease",
}


@dataclass(frozen=True)
class Entry:
    """What the model wants kept: as it answers it, whether it is true, and why not."""

    answer: dict[str, Any]
    is_true: bool
    why: str

    @property
    def word(self) -> str:
        """What a second reading should say of it."""
        if self.is_true:
            return "yes"
        meant = find_meant(self.why)
        return "not said" if meant == "serious" else meant.replace("_", " ")


@dataclass(frozen=True)
class Talk:
    """One talk of the corpus. `closes` and `stays` are places in `known`."""

    id: str
    language: str
    kinds: list[str]
    user: str
    companion: str
    known: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    entries: list[Entry]
    diary: list[dict[str, Any]]
    closes: list[int]
    stays: list[int]

    def at(self, line: dict[str, Any]) -> datetime:
        return datetime.fromisoformat(line["at"]).replace(tzinfo=UTC)


def read_talks(half: str) -> list[Talk]:
    """Return the talks of the "dev" or the "held" half, in both languages."""
    return [
        _read(talk)
        for language in ("en", "zh")
        for talk in json.loads((FOLDER / f"{language}-{half}.json").read_text(encoding="utf-8"))
    ]


def _read(talk: dict[str, Any]) -> Talk:
    return Talk(
        id=talk["id"],
        language=talk["language"],
        kinds=talk["kinds"],
        user=talk["names"]["user"],
        companion=talk["names"]["companion"],
        known=talk["known"],
        lines=talk["lines"],
        entries=[_read_entry(talk["id"], n, entry) for n, entry in enumerate(talk["learnt"])],
        diary=talk["diary"],
        closes=talk["closes"],
        stays=talk["stays"],
    )


def _read_entry(id: str, place: int, entry: dict[str, Any]) -> Entry:
    """Return the entry; every second false one says nothing of how it is meant."""
    fields = ("text", "kind", "verdict", "of", "sources", "quotes", "importance", "confidence")
    answer = {name: entry[name] for name in fields if name in entry}
    is_true = entry["label"] == "true"
    if is_true:
        answer["meant"] = "serious"
    elif crc32(f"{id}/{place}".encode()) % 2:
        answer["meant"] = find_meant(entry["why"])
    return Entry(answer, is_true, entry["why"])


def find_meant(why: str) -> str:
    """Return how a false entry was truly meant."""
    return next((meant for meant, words in MEANT.items() if re.search(words, why.lower())), "serious")
