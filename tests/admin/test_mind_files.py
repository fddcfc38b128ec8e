"""Model files on the page "Which model?": what each is, what is refused, what puts one in force, how engines stand."""

import json
import os
import re
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import FrameType
from typing import Any

import psutil
import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import User
from config.admin.engines import find_files
from config.up.ports import find_free_port
from config.up.supervisor import RECORDS_FILE
from providers.embedding.selection import get_embedder
from providers.engine.gguf import read_model_file
from providers.engine.plan import EMBEDDING_CONTEXT_TOKENS
from providers.engine.registry import RunningEngine, read_wanted, write_running
from providers.models import Provider
from providers.selection import follow_change, get_provider
from safety.models import AuditEntry
from tests.fixtures.gguf import SAID, write_gguf

pytestmark = pytest.mark.django_db


@pytest.fixture
def models(tmp_path: Path, settings: Any) -> Path:
    """Kith's folder of models, in a home whose `make up` is there; nothing else is set."""
    settings.KITH_HOME, settings.ENGINE_KEY = tmp_path, "of-this-run"
    settings.CHAT = settings.CHAT | {"base_url": "", "model": "", "is_rehearsal": False}
    folder = tmp_path / "models"
    folder.mkdir()
    return folder


def look(desk: Client, **query: str) -> str:
    answer = desk.get(reverse("admin:mind"), query)
    assert answer.status_code == 200
    return re.sub(r"\s+", " ", answer.content.decode())


def use(desk: Client, path: Path, **fields: int) -> str:
    answer = desk.post(reverse("admin:mind_file"), {"path": str(path), **fields}, follow=True)
    return answer.content.decode()


def write_records(home: Path, pid: int) -> None:
    """Record a process, far larger than the file, as the engine that serves it."""
    name = f"engine-{Provider.objects.get().pk}"
    (home / RECORDS_FILE).write_text(json.dumps([[name, pid, psutil.Process(pid).create_time()]]))


def write_large(path: Path) -> Path:
    """Write a file for whose context two thirds of the free memory go: two of them do not fit."""
    layer = 2048 * 2 * 2 * 2 * 16  # a layer's keys and values
    blocks = psutil.virtual_memory().available // layer * 6 // 10
    return write_gguf(path, {**SAID, "llama.context_length": 2048, "llama.block_count": blocks})


def test_what_lies_in_kiths_folder_is_listed_with_what_it_is(desk: Client, models: Path) -> None:
    write_gguf(models / "tiny.gguf")
    (models / "page.gguf").write_text("<html>")
    (models / "half.gguf.part").write_text("not yet")
    shown = look(desk)
    told = dict(re.findall(r"<dt>(.*?)</dt> ?<dd>(.*?)</dd>", shown))
    assert told["Architecture"] == "llama"
    assert told["Can read at once"] == "4,096 tokens"
    assert "with 4,096 tokens of context" in told["Memory needed"]
    assert "is not a GGUF model file" in shown
    assert "half.gguf" not in shown
    assert shown.count(reverse("admin:mind_file")) == 1


def test_a_model_in_several_files_is_listed_once(desk: Client, models: Path) -> None:
    for number in (1, 2):
        write_gguf(models / f"tiny-{number:05}-of-00002.gguf", weights=25_000)
        write_gguf(models / f"lone-{number + 1:05}-of-00003.gguf")  # its first was not fetched
    shown = look(desk)
    told = dict(re.findall(r"<dt>(.*?)</dt> ?<dd>(.*?)</dd>", shown))
    assert told["Size"].startswith("196")  # KB of both
    assert shown.count(reverse("admin:mind_file")) == 1
    assert shown.count("lone-00001-of-00003.gguf is missing") == 1


def count_reads(path: Path) -> int:
    """Look at what lies there, and return how many files were read for it."""
    reads = []

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and frame.f_code is read_model_file.__code__:
            reads.append(frame.f_locals["path"])

    sys.setprofile(note)
    try:
        find_files(str(path))
    finally:
        sys.setprofile(None)
    return len(reads)


def test_files_are_read_again_only_where_they_changed(models: Path) -> None:
    """A file that cannot be used may be made to take its reader long; so it is not read at each look at the page."""
    hostile, whole = models / "hostile.gguf", write_gguf(models / "whole.gguf")
    hostile.write_bytes(b"GGUF")
    assert [count_reads(whole), count_reads(whole)] == [2, 0]
    hostile.write_bytes(b"GGUF and more")
    assert [count_reads(whole), count_reads(whole)] == [1, 0]
    assert [count_reads(models / "none.gguf"), count_reads(models / "none.gguf")] == [1, 1]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("missing.gguf", "cannot be read: No such file"),
        ("folder.gguf", "is a folder"),
        ("pipe.gguf", "is not a file"),
        ("cut.gguf", "is cut short"),
        ("words.gguf", "has no chat template"),
        ("vast.gguf", "GB of memory"),
        ("x" * 300, "cannot be read: File name too long"),
        ("~nobody-at-all/m.gguf", "cannot be read"),
    ],
)
def test_what_will_not_run_is_refused_with_a_sentence(
    desk: Client, models: Path, tmp_path: Path, name: str, sentence: str
) -> None:
    (tmp_path / "folder.gguf").mkdir()
    os.mkfifo(tmp_path / "pipe.gguf")
    write_gguf(tmp_path / "cut.gguf", is_cut=True)
    write_gguf(tmp_path / "words.gguf", {"general.architecture": "gpt2"})
    write_gguf(tmp_path / "vast.gguf", {**SAID, "llama.block_count": 4_000_000})
    path = name if name.startswith("~") else str(tmp_path / name)
    assert sentence in look(desk, path=path)
    assert sentence in use(desk, Path(path))
    assert not Provider.objects.exists()


def test_use_puts_a_file_in_force_and_has_an_engine_run_it(
    desk: Client, models: Path, django_capture_on_commit_callbacks: Any
) -> None:
    path = write_gguf(models / "tiny.gguf")
    with django_capture_on_commit_callbacks(execute=True):
        shown = use(desk, path, context_tokens=2048, slots=2, threads=1)
    assert "tiny will answer as soon as it is loaded." in shown
    row = Provider.objects.get()
    (engine,) = read_wanted(models.parent).values()
    assert (engine.file, engine.name) == (str(path), "tiny")
    assert (engine.context_tokens, engine.slots, engine.threads) == (2048, 2, 1)
    write_running(models.parent, {row.pk: RunningEngine(15_123)})
    provider = get_provider()
    assert (provider.base_url, provider.api_key) == ("http://127.0.0.1:15123/v1", "of-this-run")
    assert (provider.context_tokens, provider.slots, provider.dry_multiplier) == (2048, 2, 0.8)
    assert AuditEntry.objects.get().deed == AuditEntry.Deed.CHANGED
    with django_capture_on_commit_callbacks(execute=True):
        desk.post(reverse("admin:mind_stop", args=[row.pk]))
    assert read_wanted(models.parent) == {}
    assert not Provider.objects.get().is_active


def test_an_embedding_models_file_is_used_for_memory_until_the_built_in_one_is_again(
    desk: Client, models: Path, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    def post(name: str, **fields: str) -> str:
        with django_capture_on_commit_callbacks(execute=True):
            answer = desk.post(reverse(f"admin:{name}"), fields, follow=True)
        return answer.content.decode()

    settings.EMBEDDING = {"base_url": ""}
    path = write_gguf(models / "bge.gguf", {"general.architecture": "bert", "bert.context_length": 512})
    chat = write_gguf(models / "tiny.gguf")
    shown = look(desk)
    assert (shown.count("Use for memory"), shown.count(reverse("admin:mind_file"))) == (1, 1)
    assert "all memories are embedded again" in shown
    assert "has no chat template" in use(desk, path)
    assert "was not made for embedding" in post("mind_memory", path=str(chat))
    assert not Provider.objects.exists()
    assert "recall goes on with the old vectors" in post("mind_memory", path=str(path))
    row = Provider.objects.get()
    settings.CHAT = settings.CHAT | {"base_url": "http://127.0.0.1:9/v1"}  # of the talk alone
    with django_capture_on_commit_callbacks(execute=True):
        follow_change()
    (engine,) = read_wanted(models.parent).values()
    assert (engine.file, engine.name, engine.context_tokens) == (str(path), "bge", EMBEDDING_CONTEXT_TOKENS)
    assert engine.is_embedding
    embedder = get_embedder()
    assert embedder is not None
    assert (embedder.model, embedder.is_built_in) == ("bge", False)
    assert "Use the built-in one again" in look(desk)
    assert desk.post(reverse("admin:mind_try", args=[row.pk])).status_code == 404
    assert "The built-in model compares meanings again" in post("mind_built_in")
    embedder = get_embedder()
    assert embedder is not None
    assert embedder.is_built_in
    assert read_wanted(models.parent) == {}
    assert [entry.object_id for entry in AuditEntry.objects.all()] == [str(row.pk)] * 2


def test_a_large_mind_stops_no_engine_that_compares_meanings(desk: Client, models: Path) -> None:
    path = write_gguf(models / "bge.gguf", {"general.architecture": "bert"})
    desk.post(reverse("admin:mind_memory"), {"path": str(path)})
    use(desk, write_large(models / "large.gguf"))
    use(desk, write_large(models / "larger.gguf"))
    assert [row.model for row in Provider.objects.filter(is_active=True)] == ["larger", "bge"]


def test_two_run_beside_each_other_only_where_there_is_memory_for_both(desk: Client, models: Path) -> None:
    use(desk, write_gguf(models / "tiny.gguf"))
    use(desk, write_gguf(models / "other.gguf"))
    assert Provider.objects.filter(is_active=True).count() == 2
    use(desk, write_large(models / "large.gguf"))
    shown = use(desk, write_large(models / "larger.gguf"))
    assert "large was stopped: there is not enough memory for both." in shown
    assert [row.model for row in Provider.objects.filter(is_active=True)] == ["larger"]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"context_tokens": 10}, "Context tokens per request"),
        ({"slots": 0}, "Requests at once"),
        ({"threads": 5000}, "Threads"),
        ({"context_tokens": 4096, "slots": 1000, "threads": 1}, "GB of memory"),
    ],
)
def test_values_that_will_not_do_are_said(
    desk: Client, models: Path, fields: dict[str, int], sentence: str
) -> None:
    path = write_gguf(models / "wide.gguf", {**SAID, "llama.block_count": 400})
    assert sentence in use(desk, path, **fields)
    assert not Provider.objects.exists()


def test_without_make_up_no_engine_runs_and_the_page_says_so(
    desk: Client, models: Path, settings: Any
) -> None:
    use(desk, write_gguf(models / "tiny.gguf"))
    settings.ENGINE_KEY = ""
    shown = look(desk)
    assert "This Kith was not started with make up" in shown
    assert reverse("admin:mind_file") not in shown
    assert "only a Kith that was started with make up runs an engine" in shown
    Provider.objects.all().delete()
    assert "Start it that way first" in use(desk, models / "tiny.gguf")
    assert not Provider.objects.exists()


@pytest.fixture
def loading_port() -> Iterator[int]:
    """A server that is still loading its model, as llama.cpp's says it."""

    class Loading(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(503)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Loading) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,)).start()
        yield server.server_address[1]
        server.shutdown()


def test_how_an_engine_stands_is_told_until_it_answers(desk: Client, models: Path, loading_port: int) -> None:
    use(desk, write_gguf(models / "tiny.gguf"))
    id, home, closed = Provider.objects.get().pk, models.parent, find_free_port()
    log = home / "logs" / f"engine-{id}.log"
    log.parent.mkdir()

    def see() -> str:
        shown = desk.get(reverse("admin:mind_engines")).content.decode()
        assert "every 2s" in shown  # the page asks again
        return shown

    assert "engine is starting" in see()
    log.write_text("Installing requirements-engine.txt into .venv ...\n")
    write_running(home, {id: RunningEngine(closed)})
    assert "is being installed" in see()
    write_running(home, {id: RunningEngine(loading_port)})
    write_records(home, os.getpid())
    assert "It is loading (99 % so far)" in see()
    log.write_text("llama.cpp cannot run it <here>.\n")
    write_running(home, {id: RunningEngine(closed, ends=1)})
    assert "llama.cpp cannot run it &lt;here&gt;." in see()


def test_only_those_who_may_change_providers_use_and_stop_files(
    client: Client, opal: User, models: Path
) -> None:
    client.force_login(opal)
    assert client.post(reverse("admin:mind_file"), {"path": "/etc/passwd"}).status_code == 403
    assert client.post(reverse("admin:mind_memory"), {"path": "/etc/passwd"}).status_code == 403
    assert client.post(reverse("admin:mind_built_in")).status_code == 403
    assert client.get(reverse("admin:mind_engines")).status_code == 403
    assert client.post(reverse("admin:mind_stop", args=[1])).status_code == 403
