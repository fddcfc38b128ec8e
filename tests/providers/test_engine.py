"""Kith's own engine on a real model file: it answers who has its key, and refuses what it cannot run."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager
from pathlib import Path

import httpx2
import pytest

from config.up.ports import find_free_port
from config.up.run import ROOT
from providers.chat.client import ChatClient, Timeouts
from providers.chat.events import Piece, Usage
from providers.chat.sampling import Sampling
from providers.discovery.listing import read_server
from providers.discovery.models import Kind
from providers.discovery.probe import probe_model
from providers.embedding.remote import RemoteEmbedder
from providers.errors import ProviderRefused
from tests.fixtures.gguf import write_gguf
from tests.fixtures.model_files import find_model

KEY = "a-key-of-this-run"
PATIENT = Timeouts(connect_seconds=5, first_piece_seconds=60, silence_seconds=60, retries=0)


def start_engine(file: Path, port: int, log: Path, *more: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "providers.engine", "--file", str(file), "--port", str(port)]
    command += ["--name", "small", "--context", "2048", "--threads", "1", *more]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "KITH_ENGINE_KEY": KEY}
    with log.open("wb") as said:
        return subprocess.Popen(command, env=environment, stdout=said, stderr=said)


@contextmanager
def serving(log: Path, *more: str) -> Iterator[str]:
    """The address of an engine that has loaded the small model."""
    port = find_free_port()
    with start_engine(find_model(), port, log, *more) as process:
        deadline = time.monotonic() + 90
        while not is_ready(port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
        process.terminate()


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("engine") / "log") as address:
        yield address


def is_ready(port: int) -> bool:
    try:
        return httpx2.get(f"http://127.0.0.1:{port}/health", timeout=2).is_success
    except httpx2.TransportError:
        return False


async def test_a_real_model_answers_piece_by_piece(engine: str) -> None:
    client = ChatClient(engine, KEY, "small", PATIENT)
    messages = [{"role": "user", "content": "Say hello."}]
    wanted = Sampling(max_tokens=24, dry_multiplier=0.8)
    async with aclosing(client.stream(messages, sampling=wanted)) as events:
        given = [event async for event in events]
    assert await client.is_up()
    await client.aclose()
    pieces = [event.text for event in given if isinstance(event, Piece)]
    assert len(pieces) > 3
    (usage,) = [event for event in given if isinstance(event, Usage)]
    assert 0 < usage.completion_tokens <= 24
    assert not usage.is_estimated


async def test_who_has_not_its_key_is_refused(engine: str) -> None:
    client = ChatClient(engine, "another", "small", PATIENT)
    with pytest.raises(ProviderRefused):
        async with aclosing(client.stream([{"role": "user", "content": "Say hello."}])) as events:
            [event async for event in events]
    await client.aclose()


def test_a_file_of_no_model_is_told(tmp_path: Path) -> None:
    for file, why in (
        (write_gguf(tmp_path / "cut.gguf", is_cut=True), "1 bytes are missing"),
        (write_gguf(tmp_path / "odd.gguf", {"general.architecture": "nothing"}), "llama.cpp cannot run"),
    ):
        with start_engine(file, find_free_port(), tmp_path / "log") as process:
            assert process.wait(60) == 1
        assert why in (tmp_path / "log").read_text().splitlines()[-1]


async def test_the_engine_is_found_as_llama_cpp_and_probed(engine: str) -> None:
    server = await read_server(engine, KEY)
    (model,) = server.models
    assert (server.kind, model.name, model.context_tokens) == (Kind.LLAMA_CPP, "small", 2048)
    probe = await probe_model(engine, KEY, "small", "Say hello.")
    assert probe.answer
    assert probe.first_piece_seconds > 0
    assert probe.tokens_per_second > 0
    assert (probe.context_tokens, probe.pictures) == (2048, False)
    assert probe.json is not None  # what so small a model makes of a form differs from time to time


def test_a_model_embeds_and_what_means_the_same_lies_near(tmp_path: Path) -> None:
    with serving(tmp_path / "log", "--embedding") as address:
        embedder = RemoteEmbedder(address, KEY, "small")
        long = "She sings in a choir on Mondays. " * 60  # in several windows
        cat, kitten, tax, whole = embedder.embed_documents(
            ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "VAT is due in March.", long]
        )
        assert (cat @ kitten) > (cat @ tax)
        assert whole.shape == (embedder.width,)
