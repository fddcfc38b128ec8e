"""Which chat model Kith will speak with, chosen once at the start."""

import http.client
import json
import sys
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

from config.up.ports import LOOPBACK, find_free_port
from config.up.processes import Program

OLLAMA_PORT = 11434
OLLAMA_TIMEOUT_SECONDS = 1.0
NOT_FOR_CHAT = ("embed", "bge-", "minilm", "rerank")  # for servers too old to say what a model is capable of


@dataclass(frozen=True)
class ChosenChat:
    """The choice in one line for the person, in variables for the children, and what has to be started for it."""

    line: str
    environment: Mapping[str, str] = field(default_factory=dict)
    program: Program | None = None


def choose_chat(environment: Mapping[str, str], *, ollama_port: int = OLLAMA_PORT) -> ChosenChat:
    """Return what is configured, else Ollama's first model that can chat, else the rehearsal model."""
    model = environment.get("LLM_MODEL")
    if environment.get("LLM_BASE_URL"):
        return ChosenChat(f"Chat model: {model or 'its first model'} at {environment['LLM_BASE_URL']}")
    listed = _ask(ollama_port, "GET", "/v1/models").get("data") or []
    names = [each["id"] for each in listed if isinstance(each, dict) and isinstance(each.get("id"), str)]
    model = model or next((name for name in names if _can_chat(ollama_port, name)), None)
    if names and model:
        address = f"http://{LOOPBACK}:{ollama_port}/v1"
        return ChosenChat(f"Chat model: {model} of Ollama.", {"LLM_BASE_URL": address, "LLM_MODEL": model})
    port = find_free_port()
    return ChosenChat(
        "Chat model: none is configured and no Ollama answers, so the rehearsal model replies. It is not a language\n"
        "  model: it repeats what it is given. Set LLM_BASE_URL and LLM_MODEL, or start Ollama, for a real one.",
        {"LLM_BASE_URL": f"http://{LOOPBACK}:{port}/v1", "LLM_MODEL": "rehearsal", "KITH_REHEARSAL": "1"},
        Program("rehearsal", [sys.executable, "-m", "providers.rehearsal", "--port", str(port)]),
    )


def _can_chat(port: int, name: str) -> bool:
    capabilities = _ask(port, "POST", "/api/show", {"model": name}).get("capabilities")
    if isinstance(capabilities, list):
        return "completion" in capabilities
    return not any(part in name.lower() for part in NOT_FOR_CHAT)


def _ask(port: int, method: str, path: str, body: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return the JSON object in an answer; an empty one where there is no such answer within OLLAMA_TIMEOUT_SECONDS."""
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
