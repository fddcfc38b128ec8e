"""mem0 (mem0ai on PyPI), asked what Kith is asked, over the same vectors, in a process and an environment of its own."""

import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.common.place import printing_its_port
from bench.recall.measures import DEPTHS, GIVEN, Answer
from bench.recall.talk import Question, Talk, Turn
from memory.recall.query import without_names
from providers.tokens import estimate
from tests.fixtures.rehearsal import RehearsalServer

SIDE = Path(__file__).with_name("mem0_side.py")
SPEAKER = ("assistant", "user")


class PeerError(RuntimeError):
    """mem0 ended before its work was done; with its last words."""


@dataclass(frozen=True)
class Way:
    """How mem0 is told a turn: with its speaker's name or without, as it is or through a model that draws facts.

    Where it `is_asked_plainly` the questions lack the two speakers' names, which Kith leaves out of its cues too.
    """

    label: str
    is_named: bool = False
    is_inferred: bool = False
    is_asked_plainly: bool = False


WAYS = (
    Way("mem0, turns as they are"),
    Way("mem0, turns with names", is_named=True),
    Way("mem0, asked without names", is_asked_plainly=True),
    Way("mem0, facts by a model", is_named=True, is_inferred=True),
)


@dataclass(frozen=True)
class Outcome:
    """What mem0 found, the milliseconds of its work, and the calls and tokens that adding a message took."""

    version: str
    answers: list[Answer]
    searching: list[float]
    embedding: list[float]
    adding: list[float]
    model_calls: float
    embedding_calls: float
    model_tokens: float
    stored: int
    signals: list[str]


def ask_mem0(python: Path, talks: Sequence[Talk], way: Way, width: int) -> Outcome:
    """The talks told to a new mem0 turn by turn, each talk to a user of its own, then every question put; PeerError."""
    with (
        TemporaryDirectory(prefix="kith-peers-") as folder,
        printing_its_port("bench.peers.embedding_server") as (_, port),
        RehearsalServer() as model,
    ):
        if way.is_inferred:
            model.script(*(extraction(talk, turn) for talk in talks for turn in talk.turns))
        job = _job(talks, way) | {"folder": folder, "width": width, "model_url": model.url}
        job["embedding_url"] = f"http://127.0.0.1:{port}/v1"
        answer = run_job(python, Path(folder), job)
        tokens = sum(call["prompt_tokens"] for call in model.ledger())
    return outcome(talks, answer, tokens)


def extraction(talk: Talk, turn: Turn) -> dict[str, Any]:
    """What the rehearsal model answers when mem0 asks for the facts of a turn: all of it, which no model does better."""
    fact = {"id": "0", "text": told(talk, turn, is_named=True), "attributed_to": SPEAKER[turn.is_users]}
    return {"answer": json.dumps({"memory": [fact]})}


def told(talk: Talk, turn: Turn, *, is_named: bool) -> str:
    """A turn's text as mem0 is told it."""
    return f"{talk.user if turn.is_users else talk.companion}: {turn.text}" if is_named else turn.text


def asked(talk: Talk, question: Question, way: Way) -> str:
    """A question as mem0 is asked it."""
    names = {"user": talk.user, "companion": talk.companion}
    return without_names(question.text, names) if way.is_asked_plainly else question.text


def outcome(talks: Sequence[Talk], answer: dict[str, Any], model_tokens: int) -> Outcome:
    """What mem0's side wrote, put beside the questions."""
    questions = [(talk, question) for talk in talks for question in talk.questions]
    told = len(answer["adding"])
    return Outcome(
        version=answer["version"],
        answers=[_answer(*one, found) for one, found in zip(questions, answer["found"], strict=True)],
        searching=answer["searching"],
        embedding=answer["embedding"],
        adding=answer["adding"],
        model_calls=answer["models_added"] / told,
        embedding_calls=answer["embeddings_added"] / told,
        model_tokens=model_tokens / told,
        stored=answer["stored"],
        signals=answer["signals"],
    )


def _answer(talk: Talk, question: Question, turns: Sequence[str]) -> Answer:
    found = list(dict.fromkeys(turns))
    texts = {turn.id: turn.text for turn in talk.turns}
    return Answer(question, found, sum(estimate(texts[id]) for id in found[:GIVEN]))


def _job(talks: Sequence[Talk], way: Way) -> dict[str, Any]:
    every = [
        {
            "name": talk.name,
            "turns": [
                {
                    "id": turn.id,
                    "role": SPEAKER[turn.is_users],
                    "text": told(talk, turn, is_named=way.is_named),
                    "at": turn.at.isoformat(),
                }
                for turn in talk.turns
            ],
            "questions": [asked(talk, question, way) for question in talk.questions],
        }
        for talk in talks
    ]
    return {"talks": every, "is_inferred": way.is_inferred, "limit": max(DEPTHS)}


def run_job(python: Path, folder: Path, job: dict[str, Any]) -> dict[str, Any]:
    """What mem0's side answers to a job; PeerError."""
    given, answered = folder / "job.json", folder / "answer.json"
    given.write_text(json.dumps(job))
    quiet = {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder / "mem0"), "ANONYMIZED_TELEMETRY": "False"}
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"} | quiet
    done = subprocess.run(
        [str(python), "-I", str(SIDE), str(given), str(answered)],
        cwd=folder,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode:
        raise PeerError(f"mem0 ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    answer: dict[str, Any] = json.loads(answered.read_text())
    return answer
