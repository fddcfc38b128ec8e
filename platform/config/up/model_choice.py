"""The choice of Kith's chat and embedding models, made once at the start of `make up`."""

import http.client
import json
import sys
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from config.up.engines import engine_program
from config.up.ports import LOOPBACK, find_free_port
from config.up.processes import Program
from config.up.terminal import UpError
from providers.discovery.models import can_chat
from providers.engine.gguf import ModelFileError, read_model_file
from providers.engine.plan import (
    DRY_MULTIPLIER,
    EMBEDDING_CONTEXT_TOKENS,
    measure_room,
    plan_engine,
    require_chat,
)
from providers.engine.registry import Health, WantedEngine, read_health

OLLAMA_PORT = 11434
OLLAMA_TIMEOUT_SECONDS = 1.0


@dataclass(frozen=True)
class ChosenModel:
    """A chosen model: a line for the terminal, environment variables for the children, and a program to start, if any.

    `is_ready` tells whether the program answers; None if nobody need wait for that.
    """

    line: str
    environment: Mapping[str, str] = field(default_factory=dict)
    program: Program | None = None
    is_ready: Callable[[], bool] | None = None


def choose_chat(environment: Mapping[str, str], *, ollama_port: int = OLLAMA_PORT) -> ChosenModel:
    """Return the configured model, otherwise Ollama's first model that can chat, otherwise the rehearsal model.

    Raise UpError if LLM_FILE is no model that this machine can run.
    """
    model = environment.get("LLM_MODEL")
    if environment.get("LLM_FILE"):
        return _choose_file(environment)
    if environment.get("LLM_BASE_URL"):
        return ChosenModel(f"Chat model: {model or 'its first model'} at {environment['LLM_BASE_URL']}")
    listed = _ask(ollama_port, "GET", "/v1/models").get("data") or []
    names = [each["id"] for each in listed if isinstance(each, dict) and isinstance(each.get("id"), str)]
    is_found = {} if model else {"KITH_CHAT_FOUND": "1"}
    model = model or next((name for name in names if _can_chat(ollama_port, name)), None)
    if names and model:
        address = {"LLM_BASE_URL": f"http://{LOOPBACK}:{ollama_port}/v1", "LLM_MODEL": model}
        return ChosenModel(f"Chat model: {model}, from Ollama.", address | is_found)
    port = find_free_port()
    return ChosenModel(
        "Chat model: none is set and Ollama does not answer, so the rehearsal model replies. It is not a language\n"
        "  model: it only repeats what it is given. For a real one, set LLM_BASE_URL and LLM_MODEL, start Ollama, or\n"
        "  add a provider in the admin.",
        {
            "LLM_BASE_URL": f"http://{LOOPBACK}:{port}/v1",
            "LLM_MODEL": "rehearsal",
            "KITH_REHEARSAL": "1",
            "KITH_CHAT_FOUND": "1",
        },
        Program("rehearsal", [sys.executable, "-m", "providers.rehearsal", "--port", str(port)]),
    )


def _choose_file(environment: Mapping[str, str]) -> ChosenModel:
    """Return the model of LLM_FILE, served by Kith's own engine with this run's KITH_ENGINE_KEY; raise UpError."""
    if environment.get("LLM_BASE_URL"):
        raise UpError(
            "LLM_FILE and LLM_BASE_URL are both set. Set only one: a file for Kith's own engine, or a server."
        )
    try:
        model = read_model_file(Path(environment["LLM_FILE"]).expanduser().resolve())
        require_chat(model)
        wanted = {
            "slots": _read_count(environment, "LLM_SLOTS"),
            "context_tokens": _read_count(environment, "LLM_CONTEXT_TOKENS"),
        }
        plan = plan_engine(model, measure_room(), **wanted)
    except ModelFileError as error:
        raise UpError(f"LLM_FILE: {error}") from error
    name = environment.get("LLM_MODEL") or model.path.stem
    port, key = find_free_port(), environment["KITH_ENGINE_KEY"]
    engine = WantedEngine(str(model.path), name, plan.context_tokens, plan.slots, plan.threads)
    return ChosenModel(
        f"Chat model: {model.name}, run by Kith's own engine with {plan.context_tokens:,} tokens of context.",
        {
            "LLM_BASE_URL": f"http://{LOOPBACK}:{port}/v1",
            "LLM_API_KEY": key,
            "LLM_MODEL": name,
            "LLM_CONTEXT_TOKENS": str(plan.context_tokens),
            "LLM_DRY_MULTIPLIER": environment.get("LLM_DRY_MULTIPLIER", str(DRY_MULTIPLIER)),
        },
        engine_program("engine", engine, port),
        lambda: read_health(port) is Health.READY,
    )


def choose_embedding(environment: Mapping[str, str]) -> ChosenModel | None:
    """Return the model of EMBEDDING_FILE, served by Kith's own engine, or None if no file is set.

    KITH_ENGINE_KEY is this run's. Raise UpError if the file is no model that this machine can run.
    """
    if not environment.get("EMBEDDING_FILE"):
        return None
    if environment.get("EMBEDDING_BASE_URL"):
        raise UpError(
            "EMBEDDING_FILE and EMBEDDING_BASE_URL are both set. Set only one: a file for Kith's own engine, or a server."
        )
    try:
        model = read_model_file(Path(environment["EMBEDDING_FILE"]).expanduser().resolve())
        plan = plan_engine(model, measure_room(), context_tokens=EMBEDDING_CONTEXT_TOKENS)
    except ModelFileError as error:
        raise UpError(f"EMBEDDING_FILE: {error}") from error
    name = environment.get("EMBEDDING_MODEL") or model.path.stem
    port = find_free_port()
    engine = WantedEngine(
        str(model.path), name, plan.context_tokens, plan.slots, plan.threads, is_embedding=True
    )
    return ChosenModel(
        f"Embedding model: {model.name}, run by Kith's own engine.",
        {
            "EMBEDDING_BASE_URL": f"http://{LOOPBACK}:{port}/v1",
            "EMBEDDING_API_KEY": environment["KITH_ENGINE_KEY"],
            "EMBEDDING_MODEL": name,
        },
        engine_program("engine-embedding", engine, port),
        lambda: read_health(port) is Health.READY,
    )


def _read_count(environment: Mapping[str, str], name: str) -> int:
    """Return the variable as a whole number, 0 if it is not set; raise UpError if it is no such number."""
    text = environment.get(name) or "0"
    if not text.isdecimal():
        raise UpError(f"{name} is {text!r}; it must be a whole number.")
    return int(text)


def _can_chat(port: int, name: str) -> bool:
    capabilities = _ask(port, "POST", "/api/show", {"model": name}).get("capabilities")
    if isinstance(capabilities, list):
        return "completion" in capabilities
    return can_chat(name)  # the server is too old to say


def _ask(port: int, method: str, path: str, body: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the JSON object that Ollama answers with, or an empty one if none comes in OLLAMA_TIMEOUT_SECONDS."""
    with closing(http.client.HTTPConnection(LOOPBACK, port, timeout=OLLAMA_TIMEOUT_SECONDS)) as connection:
        try:
            connection.request(
                method, path, json.dumps(body) if body else None, {"Content-Type": "application/json"}
            )
            response = connection.getresponse()
            answer = json.loads(response.read()) if response.status == http.client.OK else {}
        except (OSError, http.client.HTTPException, ValueError):
            return {}
    return answer if isinstance(answer, dict) else {}
