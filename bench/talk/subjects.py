"""Who is talked with: conversations of LoCoMo's shape and MemoryBank's people, in one form."""

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path

from bench.memorybank.people import Person, people
from bench.recall.reading import DataError, talks
from bench.recall.talk import Talk
from memory.recall.traits import is_question

ASKED = {2, 4}  # temporal and single-hop: questions whose evidence is one place or two
REMARKS = Path(__file__).parent / "remarks.toml"
TOLD_CHARACTERS = range(20, 160)
LANGUAGES = {"en": "en", "cn": "zh"}  # MemoryBank's names of languages, and Kith's


@dataclass(frozen=True)
class Line:
    """One thing said: by the user or by the companion."""

    is_users: bool
    text: str
    at: datetime


@dataclass(frozen=True)
class Question:
    """A question, and the texts of the lines that hold its answer."""

    text: str
    evidence: frozenset[str]


@dataclass(frozen=True)
class Subject:
    """A companion to be: what was said with it, session by session, and what is asked of it afterwards."""

    name: str
    user: str
    companion: str
    sessions: list[list[Line]]
    questions: list[Question]
    others_questions: list[str] = field(default_factory=list)
    others_lines: list[str] = field(default_factory=list)  # what other people told; of one line or two
    language: str = "en"

    @property
    def remarks(self) -> list[str]:
        """Small remarks in the language of the talk."""
        return list(tomllib.loads(REMARKS.read_text())[self.language])


@dataclass(frozen=True)
class Group:
    """The subjects of one kind of data."""

    name: str
    subjects: list[Subject]


def read_subjects(
    paths: Sequence[Path],
    conversations: int | None,
    only_first: int | None,
    others: int,
    chance: random.Random,
) -> list[Group]:
    """The groups of subjects in these files and folders; raises DataError where there are none.

    `others` questions in all are drawn from other subjects of the same group, shared out evenly.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    plain = [file for file in files if not file.name.startswith("memory_bank_")]
    groups = [Group("LoCoMo", [_from_talk(talk) for talk in talks(plain)])] if plain else []
    for folder in dict.fromkeys(file.parent for file in files if file not in plain):
        groups += [
            Group(
                f"MemoryBank, {name}",
                [_from_person(one, LANGUAGES[name]) for one in people(folder, name)],
            )
            for name in LANGUAGES
        ]
    if not groups:
        raise DataError("These folders hold no conversations.")
    return [
        Group(one.name, _asked(one.subjects, conversations, only_first, others, chance)) for one in groups
    ]


def _asked(
    subjects: list[Subject],
    conversations: int | None,
    only_first: int | None,
    others: int,
    chance: random.Random,
) -> list[Subject]:
    """The first so many subjects with the questions that are put to them."""
    chosen = subjects[:conversations]
    share = others // len(chosen)
    told = []
    for subject in chosen:
        strange = [question.text for one in subjects if one is not subject for question in one.questions]
        drawn = chance.sample(strange, min(share, len(strange)))
        told.append(
            replace(
                subject,
                questions=subject.questions[:only_first],
                others_questions=drawn,
                others_lines=[text for one in subjects if one is not subject for text in _told_lines(one)],
            )
        )
    return told


def _told_lines(subject: Subject) -> list[str]:
    """What its person told in so many words, and did not ask."""
    lines = [line.text for session in subject.sessions for line in session if line.is_users]
    return [text for text in lines if len(text) in TOLD_CHARACTERS and not is_question(text)]


def _from_talk(talk: Talk) -> Subject:
    texts = {turn.id: turn.text for turn in talk.turns}
    return Subject(
        talk.name,
        talk.user,
        talk.companion,
        [[Line(turn.is_users, turn.text, turn.at) for turn in session] for session in talk.sessions],
        [
            Question(one.text, frozenset(texts[id] for id in one.evidence))
            for one in talk.questions
            if one.category in ASKED
        ],
    )


def _from_person(person: Person, language: str) -> Subject:
    """A session a day, as the log has it."""
    days: dict[str, list[Line]] = {}
    texts = {}
    for line in person.log:
        at = datetime.fromisoformat(line["at"])
        days.setdefault(line["at"][:10], []).append(Line(line["role"] == "user", line["text"], at))
        texts[line["client_id"]] = line["text"]
    questions = [
        Question(one.text, frozenset(texts[label] for label in one.answers))
        for one in person.questions
        if one.answers
    ]
    return Subject(person.name, person.name, "Juno", list(days.values()), questions, language=language)
