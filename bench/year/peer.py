"""The same year told to mem0 (mem0ai on PyPI): how often it asks its model, and with how many tokens."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.peers.mem0 import run_job
from bench.place import printing_its_port
from companions.models import Companion
from providers.rehearsal.running import RehearsalServer

Exchange = tuple[str, str, str]
"""When, what the person said, and what they were answered."""


@dataclass(frozen=True)
class Cost:
    """What adding an exchange took on average: calls of the model, their tokens, and embeddings."""

    version: str
    calls: float
    tokens_sent: float
    tokens_received: float
    embeddings: float
    stored: int


def exchanges(companion: Companion, most: int) -> list[Exchange]:
    """The first so many messages of the person with their answers."""
    asked = companion.messages.filter(role="user").order_by("said_at")[:most]
    answers = {one.parent_id: one.text for one in companion.messages.filter(role="assistant")}
    return [(one.said_at.isoformat(), one.text, answers.get(one.pk, "")) for one in asked]


def told_to_mem0(python: Path, told: Sequence[Exchange], width: int) -> Cost:
    """Each exchange is given to its add() at once; the model answers with what the person said, whole. PeerError."""
    with (
        TemporaryDirectory(prefix="kith-peers-") as folder,
        printing_its_port("bench.peers.embedding_server") as (_, port),
        RehearsalServer() as model,
    ):
        model.script(*({"answer": _extraction(text)} for _, text, _ in told))
        job = job_of(told) | {"folder": folder, "width": width, "model_url": model.url}
        answer = run_job(python, Path(folder), job | {"embedding_url": f"http://127.0.0.1:{port}/v1"})
        calls = model.ledger()
    return Cost(
        version=answer["version"],
        calls=len(calls) / len(told),
        tokens_sent=sum(one["prompt_tokens"] for one in calls) / len(told),
        tokens_received=sum(one["completion_tokens"] for one in calls) / len(told),
        embeddings=answer["embeddings_added"] / len(told),
        stored=answer["stored"],
    )


def _extraction(text: str) -> str:
    return json.dumps({"memory": [{"id": "0", "text": text, "attributed_to": "user"}]})


def job_of(told: Sequence[Exchange]) -> dict[str, Any]:
    """What mem0's side is to do: add each exchange, and ask nothing."""
    turns = [
        {
            "id": str(n),
            "role": "user",
            "text": text,
            "at": at,
            "answered": [{"role": "assistant", "content": answer}],
        }
        for n, (at, text, answer) in enumerate(told)
    ]
    return {"talks": [{"name": "year", "turns": turns, "questions": []}], "is_inferred": True, "limit": 1}
