"""Runs with mem0's own Python: tells mem0 the talks of a job, puts the questions, writes what came and what it took.

Called with two paths: the job, and where the answer goes (both JSON, see bench.peers.mem0).
"""

import json
import logging
import sys
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from mem0 import Memory  # type: ignore[import-not-found]


class Counted:
    """A part of mem0, with the milliseconds of each call of the named methods."""

    def __init__(self, part: Any, *methods: str) -> None:
        self._part, self._methods = part, methods
        self.milliseconds: list[float] = []

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._part, name)
        return self._timed(method) if name in self._methods else method

    def _timed(self, method: Any) -> Any:
        def call(*given: Any, **named: Any) -> Any:
            began = perf_counter()
            try:
                return method(*given, **named)
            finally:
                self.milliseconds.append((perf_counter() - began) * 1000)

        return call


def main() -> None:
    """Do the job."""
    logging.disable(logging.WARNING)
    job = json.loads(Path(sys.argv[1]).read_text())
    memory = Memory.from_config(_config(job))
    memory.embedding_model = embeds = Counted(memory.embedding_model, "embed", "embed_batch")
    memory.llm = model = Counted(memory.llm, "generate_response")
    adding = [_timed(_add, memory, job, talk, turn) for talk in job["talks"] for turn in talk["turns"]]
    answer: dict[str, Any] = {"version": version("mem0ai"), "adding": [one for one, _ in adding]}
    answer |= {"stored": sum(len(one["results"]) for _, one in adding)}
    answer |= {"embeddings_added": len(embeds.milliseconds), "models_added": len(model.milliseconds)}
    embeds.milliseconds.clear()
    asking = [
        _timed(_search, memory, job, talk, question)
        for talk in job["talks"]
        for question in talk["questions"]
    ]
    answer |= {"searching": [one for one, _ in asking], "embedding": embeds.milliseconds}
    answer |= {"found": [_turns(one) for _, one in asking], "signals": _signals(one for _, one in asking)}
    Path(sys.argv[2]).write_text(json.dumps(answer))


def _config(job: dict[str, Any]) -> dict[str, Any]:
    folder = Path(job["folder"])
    model = {"model": "rehearsal", "openai_base_url": job["model_url"], "api_key": "none"}
    embedder = {"model": "kith", "openai_base_url": job["embedding_url"], "api_key": "none"}
    store = {"path": str(folder / "qdrant"), "on_disk": True, "embedding_model_dims": job["width"]}
    return {
        "llm": {"provider": "openai", "config": model},
        "embedder": {"provider": "openai", "config": embedder},
        "vector_store": {"provider": "qdrant", "config": store},
        "history_db_path": str(folder / "history.db"),
    }


def _add(memory: Memory, job: dict[str, Any], talk: dict[str, Any], turn: dict[str, Any]) -> Any:
    messages = [{"role": turn["role"], "content": turn["text"]}, *turn.get("answered", [])]
    told = {"turn": turn["id"], "said_at": turn["at"]}
    return memory.add(messages, user_id=talk["name"], metadata=told, infer=job["is_inferred"])


def _search(memory: Memory, job: dict[str, Any], talk: dict[str, Any], question: str) -> Any:
    return memory.search(question, top_k=job["limit"], filters={"user_id": talk["name"]}, explain=True)


def _timed(do: Any, *given: Any) -> tuple[float, Any]:
    began = perf_counter()
    done = do(*given)
    return (perf_counter() - began) * 1000, done


def _turns(found: dict[str, Any]) -> list[str]:
    return [one["metadata"]["turn"] for one in found["results"]]


def _signals(every: Any) -> list[str]:
    """Which parts of mem0's score ever counted."""
    details = [one["score_details"] for found in every for one in found["results"]]
    return [
        name for name in ("semantic_score", "bm25_score", "entity_boost") if any(one[name] for one in details)
    ]


if __name__ == "__main__":
    main()
