"""Who reads a second time what a model drafted: a script that is right but for a share of errors, or answers as given."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from bench.learning.corpus_files import FOLDER, Talk

DRAFTED = re.compile(r'^(\d+)\. (fact|diary): ("(?:[^"\\]|\\.)*")', re.MULTILINE)
Answers = Mapping[
    str, Mapping[str, list[str]]
]  # {talk: {"facts": [a word for each entry], "diary": [for each sentence]}}


@dataclass(frozen=True)
class Reader:
    """A reader by name: one that errs in such a share of answers, that answers as given, or (None, none) nothing."""

    name: str
    error_rate: float | None = None
    given: Answers = field(default_factory=dict)

    def answer(self, talk: Talk, asked: str) -> str:
        """Return the answer about the sentences of a request, as JSON."""
        if self.error_rate is None and not self.given:
            return "I have read all of it."
        words = {
            number: self._read(talk, kind, place)
            for number, (kind, place) in find_places(talk, asked).items()
        }
        return json.dumps({"answers": {number: word for number, word in words.items() if word}})

    def _read(self, talk: Talk, kind: str, place: int) -> str:
        if self.error_rate is None:
            words = self.given.get(talk.id, {}).get(kind, [])
            return words[place] or "" if place < len(words) else ""
        truth = talk.entries[place].word if kind == "facts" else _read_label(talk.diary[place])
        if crc32(f"{talk.id}/{kind}/{place}".encode()) % 1000 >= 1000 * self.error_rate:
            return truth
        return "not said" if truth == "yes" else "yes"


def _read_label(sentence: Mapping[str, Any]) -> str:
    return "yes" if sentence["label"] == "true" else "not said"


def find_places(talk: Talk, asked: str) -> dict[str, tuple[str, int]]:
    """Return by each number in a request which entry ("facts") or sentence ("diary") of the corpus stands there."""
    texts = {
        "facts": [entry.answer["text"] for entry in talk.entries],
        "diary": [sentence["text"] for sentence in talk.diary],
    }
    found = {}
    for number, kind, quoted in DRAFTED.findall(asked):
        name = "facts" if kind == "fact" else "diary"
        found[number] = (name, texts[name].index(json.loads(quoted)))
    return found


def list_readers() -> list[Reader]:
    """Return the readers whose rows are printed: with ever more errors, who says nothing, and those given as data."""
    erring = [Reader(f"reader with {rate} % errors", rate / 100) for rate in (0, 5, 10, 20)]
    files = sorted(FOLDER.glob("reader-*.json"))
    given = [Reader(f"answers of {path.stem}", given=json.loads(path.read_text("utf-8"))) for path in files]
    return [*erring, Reader("reader who says nothing"), *given]
