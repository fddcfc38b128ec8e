"""Who reads a second time what a model drafted: a script that is right but for a share of errors, or answers as given."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from bench.learning.corpus_files import FOLDER, Talk

DRAFTED = re.compile(r'^(\d+)\. (\w+): ("(?:[^"\\]|\\.)*")', re.MULTILINE)
NAMES = {"fact": "facts", "self": "edits", "profile": "edits", "diary": "diary", "earlier": "known"}
# {talk: {"facts": [a word for each entry], "diary": [for each sentence], "edits": {place of an entry: a word}}}
Answers = Mapping[str, Mapping[str, Any]]


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
        """Return the word for a sentence; whether a known fact is over is always told truly."""
        if kind == "known":
            return "over" if place + 1 in talk.closes else "yes"
        if self.error_rate is None:
            given = self.given.get(talk.id, {})
            if kind == "edits" and str(place) in given.get("edits", {}):
                return str(given["edits"][str(place)])
            words = given.get("diary" if kind == "diary" else "facts", [])
            return words[place] or "" if place < len(words) else ""
        truth = _read_label(talk.diary[place]) if kind == "diary" else talk.entries[place].word
        if crc32(f"{talk.id}/{kind}/{place}".encode()) % 1000 >= 1000 * self.error_rate:
            return truth
        return "not said" if truth == "yes" else "yes"


def _read_label(sentence: Mapping[str, Any]) -> str:
    return "yes" if sentence["label"] == "true" else "not said"


def find_places(talk: Talk, asked: str) -> dict[str, tuple[str, int]]:
    """Return by each number in a request what of the corpus stands there: an entry, as a fact ("facts") or an edit
    ("edits"), a sentence ("diary") or something known ("known"), by its place; nothing for titles and what was redacted.
    """
    entries = [entry.answer["text"] for entry in talk.entries]
    texts = {
        "facts": entries,
        "edits": entries,
        "diary": [sentence["text"] for sentence in talk.diary],
        "known": [known["text"] for known in talk.known],
    }
    drafted = [(number, NAMES[kind], json.loads(quoted)) for number, kind, quoted in DRAFTED.findall(asked)]
    return {number: (name, texts[name].index(text)) for number, name, text in drafted if text in texts[name]}


def list_readers() -> list[Reader]:
    """Return the readers whose rows are printed: with ever more errors, who says nothing, and those given as data."""
    erring = [Reader(f"reader with {rate} % errors", rate / 100) for rate in (0, 5, 10, 20)]
    files = sorted(FOLDER.glob("reader-*.json"))
    given = [Reader(f"answers of {path.stem}", given=json.loads(path.read_text("utf-8"))) for path in files]
    return [*erring, Reader("reader who says nothing"), *given]
