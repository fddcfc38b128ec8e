"""Which chat model is chosen, with a server that answers as Ollama does."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from config.up.model_choice import choose_chat, choose_embedding
from config.up.ports import find_free_port
from config.up.terminal import UpError
from tests.fixtures.gguf import SAID, write_gguf

WITHOUT_SETTINGS = {
    "PATH": os.environ["PATH"],
    "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "platform"),
}


class Ollama(BaseHTTPRequestHandler):
    """`/v1/models` and `/api/show` of an Ollama that holds `models`; None where it is too old to tell what they do."""

    models: dict[str, list[str] | None] = {}

    def do_GET(self) -> None:
        self._answer({"object": "list", "data": [{"id": name} for name in self.models] or None})

    def do_POST(self) -> None:
        name = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["model"]
        capabilities = self.models[name]
        self._answer({} if capabilities is None else {"capabilities": capabilities})

    def _answer(self, body: dict[str, object]) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing."""


@pytest.fixture
def ollama_port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Ollama) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        (
            {"bge-m3:latest": ["embedding"], "qwen3:8b": ["completion", "tools"], "gemma3": ["completion"]},
            "qwen3:8b",
        ),
        ({"nomic-embed-text": None, "llama3.2": None}, "llama3.2"),
    ],
)
def test_ollamas_first_model_that_can_chat_is_chosen(
    ollama_port: int, models: dict[str, list[str] | None], chosen: str
) -> None:
    Ollama.models = models
    found = choose_chat({}, ollama_port=ollama_port)
    address = {"LLM_BASE_URL": f"http://127.0.0.1:{ollama_port}/v1", "LLM_MODEL": chosen}
    # A provider of the admin's comes before it.
    assert found.environment == address | {"KITH_CHAT_FOUND": "1"}
    assert found.program is None


@pytest.mark.parametrize("models", [{}, {"bge-m3": ["embedding"]}])
def test_an_ollama_without_a_chat_model_leaves_the_rehearsal_model(
    ollama_port: int, models: dict[str, list[str] | None]
) -> None:
    Ollama.models = models
    found = choose_chat({}, ollama_port=ollama_port)
    assert found.environment["KITH_REHEARSAL"] == "1"
    assert found.program is not None
    assert "not a language" in found.line


def test_where_nothing_answers_the_rehearsal_model_replies() -> None:
    assert choose_chat({}, ollama_port=find_free_port()).environment["KITH_REHEARSAL"] == "1"


def test_a_configured_model_is_taken_as_it_is(ollama_port: int) -> None:
    Ollama.models = {"qwen3:8b": ["completion"]}
    found = choose_chat({"LLM_BASE_URL": "http://model.test/v1", "LLM_MODEL": "big"}, ollama_port=ollama_port)
    assert found.line == "Chat model: big at http://model.test/v1"
    assert (found.environment, found.program) == ({}, None)


def test_a_model_file_is_run_by_an_engine_of_kiths_own(tmp_path: Path) -> None:
    write_gguf(tmp_path / "tiny.gguf")
    run = {"KITH_ENGINE_KEY": "of-this-run"}
    found = choose_chat(run | {"LLM_FILE": str(tmp_path / "tiny.gguf")}, ollama_port=find_free_port())
    assert found.program is not None
    assert found.program.name == "engine"
    assert found.environment["LLM_MODEL"] == "tiny"
    assert found.environment["LLM_CONTEXT_TOKENS"] == "4096"  # for no more was it made
    assert found.environment["LLM_DRY_MULTIPLIER"] == "0.8"
    assert found.environment["LLM_API_KEY"] == "of-this-run"
    assert "of-this-run" not in "".join(found.program.command)
    assert "Tiny" in found.line


def test_a_model_file_is_refused_in_words_where_there_are_no_settings_yet() -> None:
    script = (
        "from config.up.model_choice import choose_chat; choose_chat({'LLM_FILE': '/nowhere/model.gguf'})"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], env=WITHOUT_SETTINGS, capture_output=True, text=True
    )
    assert "LLM_FILE: /nowhere/model.gguf cannot be read: No such file" in ended.stderr.splitlines()[-1]


def test_a_model_file_that_cannot_be_run_is_refused_at_once(tmp_path: Path) -> None:
    cut = write_gguf(tmp_path / "cut.gguf", is_cut=True)
    with pytest.raises(UpError, match=r"LLM_FILE: .*cut short"):
        choose_chat({"LLM_FILE": str(cut)})
    vast = write_gguf(tmp_path / "vast.gguf", {**SAID, "llama.block_count": 4_000_000})
    bare = write_gguf(tmp_path / "bare.gguf", {"general.architecture": "bert"})
    with pytest.raises(UpError, match=r"LLM_FILE: .*no chat template"):
        choose_chat({"LLM_FILE": str(bare)})
    with pytest.raises(UpError, match=r"needs about .* GB of memory with 2,048 tokens"):
        choose_chat({"LLM_FILE": str(vast)})
    # Blocks of layers for one slot.
    half = psutil.virtual_memory().available // 4096 // (2 * 2 * 2 * 16) * 2 // 3
    large = str(write_gguf(tmp_path / "large.gguf", {**SAID, "llama.block_count": half}))
    assert choose_chat(
        {"LLM_FILE": large, "LLM_CONTEXT_TOKENS": "4096", "KITH_ENGINE_KEY": "of-this-run"}
    ).program
    with pytest.raises(UpError, match="4,096 tokens"):
        choose_chat({"LLM_FILE": large, "LLM_CONTEXT_TOKENS": "4096", "LLM_SLOTS": "2"})
    for name in ("LLM_SLOTS", "LLM_CONTEXT_TOKENS"):
        with pytest.raises(UpError, match=f"{name} is 'many'"):
            choose_chat({"LLM_FILE": str(cut.with_name("vast.gguf")), name: "many"})
    with pytest.raises(UpError, match="both set"):
        choose_chat({"LLM_FILE": str(cut), "LLM_BASE_URL": "http://127.0.0.1:1/v1"})


def test_an_embedding_models_file_is_run_by_an_engine_of_kiths_own(tmp_path: Path) -> None:
    assert choose_embedding({}) is None
    said = {"general.architecture": "bert", "bert.context_length": 512}
    file = {
        "EMBEDDING_FILE": str(write_gguf(tmp_path / "small.gguf", said)),
        "KITH_ENGINE_KEY": "of-this-run",
    }
    chosen = choose_embedding(file)
    assert chosen is not None
    assert chosen.program is not None
    assert {"--embedding", "--context=512"} <= set(chosen.program.command)
    assert chosen.environment["EMBEDDING_MODEL"] == "small"
    assert chosen.environment["EMBEDDING_API_KEY"] == "of-this-run"
    with pytest.raises(UpError, match="both set"):
        choose_embedding(file | {"EMBEDDING_BASE_URL": "http://127.0.0.1:1/v1"})
    with pytest.raises(UpError, match=r"EMBEDDING_FILE: .*cannot be read"):
        choose_embedding({"EMBEDDING_FILE": str(tmp_path / "none.gguf")})
