"""MemoryBank's files: what people said to a companion in ten days, and what they ask it afterwards.

A label is `day/exchange/speaker`, as in `2023-04-27/2/user`; it names a message of a person's log, and is its client id.
"""

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
MORNING = timedelta(hours=9)
STEP = timedelta(minutes=1)
ANSWERS_AFTER = timedelta(seconds=20)
ROLES = {"query": ("user", "user"), "response": ("companion", "assistant")}


@dataclass(frozen=True)
class Question:
    """One probing question; `answers` are the labels of the messages that hold its answer, where somebody looked."""

    text: str
    answers: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Person:
    """Somebody's log, in the form in which Kith takes logs in, and their questions."""

    name: str
    log: list[dict[str, str]]
    questions: list[Question] = field(default_factory=list)


def people(folder: Path, language: str) -> list[Person]:
    """The people of one language ("en" or "cn"), in the order of the questions' file."""
    bank = json.loads((folder / f"memory_bank_{language}.json").read_text())
    histories = {name.strip(): person["history"] for name, person in bank.items()}  # some names have blanks
    labels = json.loads((HERE / f"labels_{language}.json").read_text())["labels"]
    answers = {(label["person"], label["question"]): frozenset(label["answers"]) for label in labels}
    lines = (folder / f"probing_questions_{language}.jsonl").read_text().splitlines()
    asked: dict[str, list[str]] = {}
    for line in filter(str.strip, lines):
        asked |= json.loads(line)
    return [
        Person(name, _log(histories[name]), _questions(name, texts, answers)) for name, texts in asked.items()
    ]


def _questions(name: str, texts: list[str], answers: dict[tuple[str, int], frozenset[str]]) -> list[Question]:
    return [Question(text, answers.get((name, number), frozenset())) for number, text in enumerate(texts)]


def _log(history: dict[str, list[dict[str, Any]]]) -> list[dict[str, str]]:
    """The messages of all days: an exchange a minute, from nine o'clock on."""
    log = []
    for day, exchanges in history.items():
        began = datetime.fromisoformat(day).replace(tzinfo=UTC) + MORNING
        for number, exchange in enumerate(exchanges):
            for part, (speaker, role) in ROLES.items():
                at = began + number * STEP + (ANSWERS_AFTER if part == "response" else timedelta())
                label = f"{day}/{number}/{speaker}"
                log.append({"client_id": label, "role": role, "text": exchange[part], "at": at.isoformat()})
    return log
