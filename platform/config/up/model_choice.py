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
        slots = _read_count(environment, "LLM_SLOTS")
        context_tokens = _read_count(environment, "LLM_CONTEXT_TOKENS")
        return _choose_file(environment, "LLM", slots=slots, context_tokens=context_tokens)
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


def choose_embedding(environment: Mapping[str, str]) -> ChosenModel | None:
    """Return the model of EMBEDDING_FILE, served by Kith's own engine, or None if no file is set.

    Raise UpError if the file is no model that this machine can run.
    """
    if not environment.get("EMBEDDING_FILE"):
        return None
    return _choose_file(environment, "EMBEDDING", context_tokens=EMBEDDING_CONTEXT_TOKENS)


def _choose_file(environment: Mapping[str, str], kind: str, **wishes: int) -> ChosenModel:
    """Return the model of LLM_FILE or EMBEDDING_FILE, which Kith's own engine serves with this run's KITH_ENGINE_KEY.

    `kind` is `LLM` or `EMBEDDING`, `wishes` are arguments of `plan_engine`. Raise UpError if it cannot be served.
    """
    is_embedding = kind == "EMBEDDING"
    if environment.get(f"{kind}_BASE_URL"):
        raise UpError(
            f"{kind}_FILE and {kind}_BASE_URL are both set. Set only one: a file for Kith's own engine, or a server."
        )
    try:
        model = read_model_file(Path(environment[f"{kind}_FILE"]).expanduser().resolve())
        if not is_embedding:
            require_chat(model)
        plan = plan_engine(model, measure_room(), **wishes)
    except ModelFileError as error:
        raise UpError(f"{kind}_FILE: {error}") from error
    name, port = environment.get(f"{kind}_MODEL") or model.path.stem, find_free_port()
    served = {
        f"{kind}_BASE_URL": f"http://{LOOPBACK}:{port}/v1",
        f"{kind}_API_KEY": environment["KITH_ENGINE_KEY"],
        f"{kind}_MODEL": name,
    }
    line = f"Embedding model: {model.name}, run by Kith's own engine."
    if not is_embedding:
        line = f"Chat model: {model.name}, run by Kith's own engine with {plan.context_tokens:,} tokens of context."
        served["LLM_CONTEXT_TOKENS"] = str(plan.context_tokens)
        served["LLM_DRY_MULTIPLIER"] = environment.get("LLM_DRY_MULTIPLIER", str(DRY_MULTIPLIER))
    engine = WantedEngine(
        str(model.path), name, plan.context_tokens, plan.slots, plan.threads, is_embedding=is_embedding
    )
    program = engine_program("engine-embedding" if is_embedding else "engine", engine, port)
    return ChosenModel(line, served, program, lambda: read_health(port) is Health.READY)


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
