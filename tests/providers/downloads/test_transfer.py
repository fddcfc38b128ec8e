"""Fetching a model's file: what breaks it off, what it goes on from, and what is refused."""

import hashlib
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from providers.downloads.models import Download, PinnedDigest
from providers.downloads.operations import (
    accept_change,
    pause_download,
    remove_download,
    resume_download,
    start_download,
)
from providers.downloads.storage import lock_part
from providers.downloads.transfer import MAX_ATTEMPTS, MAX_CHECKS, run_download
from providers.http.guarded_http import BLOCK_BYTES
from tests.fixtures.faults import begins, count, killed
from tests.fixtures.file_server import FileServer
from tests.fixtures.gguf import SAID, write_gguf

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
State, Failure = Download.State, Download.Failure
BYTES = 6 * BLOCK_BYTES


def make_model(folder: Path, name: str = "Tiny", **fields: Any) -> bytes:
    return write_gguf(
        folder / "made", {**SAID, "general.name": name}, weights=BYTES // 4, **fields
    ).read_bytes()


@pytest.fixture
def home(tmp_path: Path, settings: Any) -> Path:
    settings.KITH_HOME = tmp_path / "home"
    return tmp_path / "home"


@pytest.fixture
def server(home: Path, tmp_path: Path, settings: Any) -> Iterator[FileServer]:
    with FileServer(make_model(tmp_path)) as running:
        settings.OUTBOUND_ALLOWED = {running.host}
        yield running


def make_clock(now: datetime = NOON) -> Callable[[], datetime]:
    """A clock on which two seconds go by whenever it is looked at, so that all progress is written."""
    times = (now + timedelta(seconds=2 * number) for number in range(100_000))
    return lambda: next(times)


def run(row: Download, now: datetime = NOON, **options: Any) -> Download:
    run_download(row.pk, make_clock(now), **({"margin_bytes": 0, "stall_seconds": 5.0} | options))
    row.refresh_from_db()
    return row


def list_folder(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "models").iterdir())


def test_a_file_is_fetched_checked_pinned_and_put_in_its_place(server: FileServer, home: Path) -> None:
    row = run(start_download(server.url, NOON))
    assert (row.state, row.failure, row.received_bytes) == (State.DONE, "", len(server.content))
    assert (home / "models" / "tiny.gguf").read_bytes() == server.content
    assert list_folder(home) == ["tiny.gguf"]
    digest = hashlib.sha256(server.content).hexdigest()
    assert PinnedDigest.objects.get(url=server.url).sha256 == digest


@pytest.mark.parametrize("fault", ["cut_after", "stall_after"])
def test_what_broke_off_or_stalled_is_resumed_later(server: FileServer, home: Path, fault: str) -> None:
    setattr(server, fault, 2 * BLOCK_BYTES)
    row = run(start_download(server.url, NOON), stall_seconds=0.5)
    assert (row.state, row.received_bytes) == (State.ACTIVE, 2 * BLOCK_BYTES)
    assert row.failure == (Failure.UNREACHABLE if fault == "cut_after" else Failure.SLOW)
    assert row.next_at > NOON
    run(row, NOON)  # not yet
    assert len(server.ranges) == 1
    setattr(server, fault, None)
    row = run(row, row.next_at)
    assert server.ranges == [None, f"bytes={2 * BLOCK_BYTES}-"]
    assert row.state == State.DONE
    assert (home / "models" / "tiny.gguf").read_bytes() == server.content


def test_what_came_within_a_second_before_the_break_is_kept_too(server: FileServer) -> None:
    server.cut_after = 2 * BLOCK_BYTES
    row = start_download(server.url, NOON)
    run_download(row.pk, lambda: NOON, margin_bytes=0)
    row.refresh_from_db()
    assert row.received_bytes == 2 * BLOCK_BYTES


@pytest.mark.parametrize("tag", ['"' + "x" * 400 + '"', '"\x01"', 'W/"weak"', ""], ids=repr)
def test_a_version_that_cannot_be_asked_for_is_none(server: FileServer, tag: str) -> None:
    server.cut_after, server.tag = 2 * BLOCK_BYTES, tag
    row = run(start_download(server.url, NOON))
    assert row.validator == ""
    server.cut_after = None
    assert run(row, row.next_at).state == State.DONE
    assert server.ranges == [None, None]


def test_what_brings_nothing_again_and_again_is_given_up(server: FileServer) -> None:
    server.status = 503
    row = start_download(server.url, NOON)
    for _ in range(MAX_ATTEMPTS):
        assert run(row, row.next_at).state == State.ACTIVE
    assert run(row, row.next_at).state == State.FAILED
    assert row.failure == Failure.BROKEN


def test_a_slow_server_that_does_send_is_waited_for(server: FileServer) -> None:
    server.slice_seconds = 0.02
    assert run(start_download(server.url, NOON), stall_seconds=2.0).state == State.DONE


@pytest.mark.parametrize("change", ["no ranges", "another version", "another version, no ranges"])
def test_where_it_cannot_go_on_it_begins_anew(
    server: FileServer, home: Path, tmp_path: Path, change: str
) -> None:
    server.cut_after = 3 * BLOCK_BYTES
    row = run(start_download(server.url, NOON))
    server.cut_after = None
    server.has_ranges = "no ranges" not in change
    if "another" in change:
        server.content, server.tag = make_model(tmp_path, "Tinier"), '"two"'
    row = run(row, row.next_at)
    assert row.state == State.DONE
    assert (home / "models" / "tiny.gguf").read_bytes() == server.content


def test_a_part_that_lost_its_end_begins_anew(server: FileServer, home: Path) -> None:
    server.cut_after = 3 * BLOCK_BYTES
    row = run(start_download(server.url, NOON))
    server.cut_after = None
    with (home / "models" / f"{row.pk}.part").open("r+b") as part:
        part.truncate(BLOCK_BYTES)
    assert run(row, row.next_at).state == State.DONE
    assert server.ranges == [None, None]


def test_another_checksum_than_promised_is_refused_and_removed(server: FileServer, home: Path) -> None:
    row = run(start_download(server.url, NOON, sha256="0" * 64))
    assert (row.state, row.failure, row.received_bytes) == (State.FAILED, Failure.CHECKSUM, 0)
    assert list_folder(home) == []
    assert not PinnedDigest.objects.exists()


def test_a_file_that_differs_from_the_first_is_refused_until_it_is_accepted(
    server: FileServer, home: Path, tmp_path: Path
) -> None:
    remove_download(run(start_download(server.url, NOON)).pk)
    server.content, server.tag = make_model(tmp_path, "Other"), '"two"'
    row = run(start_download(server.url, NOON))
    assert (row.state, row.failure) == (State.FAILED, Failure.PINNED)
    assert list_folder(home) == []
    accept_change(row.pk, NOON)
    row.refresh_from_db()
    assert run(row).state == State.DONE
    assert PinnedDigest.objects.get().sha256 == hashlib.sha256(server.content).hexdigest()


@contextmanager
def small_disk(folder: Path) -> Iterator[bool]:
    """The folder on a disk of its own; False where this process may mount none."""
    folder.mkdir(parents=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    is_mounted = subprocess.run(mount, capture_output=True).returncode == 0
    try:
        yield is_mounted
    finally:
        if is_mounted:
            subprocess.run(["umount", str(folder)], check=True)


@contextmanager
def full_disk(folder: Path) -> Iterator[None]:
    """Nothing more goes onto the disk of the folder."""
    filler = folder / "filler"
    filler.write_bytes(bytes(shutil.disk_usage(folder).free))
    yield
    filler.unlink()


@contextmanager
def no_larger_files(most: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes, as on a disk that is full then."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_is_full_meanwhile_keeps_what_has_come(server: FileServer, home: Path) -> None:
    """The disk is really full where a small one may be mounted."""
    row, folder, clock = start_download(server.url, NOON), home / "models", make_clock()
    part = folder / f"{row.pk}.part"
    with small_disk(folder) as is_mounted:
        with ExitStack() as fillings:

            def fill_in_mid_file() -> datetime:
                has_begun = part.exists() and part.stat().st_size == 3 * BLOCK_BYTES
                if has_begun and not (folder / "filler").exists():
                    full = full_disk(folder) if is_mounted else no_larger_files(3 * BLOCK_BYTES + 1000)
                    fillings.enter_context(full)
                return clock()

            run_download(row.pk, fill_in_mid_file, margin_bytes=0)
        row.refresh_from_db()
        assert (row.state, row.failure) == (State.FAILED, Failure.DISK_FULL)
        assert row.received_bytes == 3 * BLOCK_BYTES
        resume_download(row.pk, NOON)
        row.refresh_from_db()
        assert run(row).state == State.DONE
        assert server.ranges[-1] == f"bytes={3 * BLOCK_BYTES}-"
        assert (folder / "tiny.gguf").read_bytes() == server.content


def test_a_disk_that_is_too_small_is_left_alone(server: FileServer, home: Path) -> None:
    home.mkdir()
    row = start_download(server.url, NOON)
    row = run(row, margin_bytes=shutil.disk_usage(home).total)
    assert (row.state, row.failure) == (State.FAILED, Failure.DISK_FULL)
    assert (home / "models" / f"{row.pk}.part").stat().st_size == 0


@pytest.mark.parametrize(
    ("fields", "failure"),
    [
        ({"content": b"<!doctype html><p>Sign in", "content_type": "text/html"}, Failure.HTML),
        ({"content": b"no model at all"}, Failure.NOT_GGUF),
        ({"content": b"GGUF" + bytes(100)}, Failure.NOT_GGUF),
        ({"status": 404}, Failure.MISSING),
        ({"status": 401}, Failure.DENIED),
        ({"status": 418}, Failure.REFUSED),
        ({"location": "https://127.0.0.1/"}, Failure.REDIRECT),
        ({"location": "http://127.0.0.1:9/"}, Failure.REDIRECT),
    ],
    ids=str,
)
def test_what_is_no_model_is_refused_by_name(
    server: FileServer, home: Path, fields: dict[str, Any], failure: Failure
) -> None:
    for name, value in fields.items():
        setattr(server, name, value)
    row = run(start_download(server.url, NOON))
    assert (row.state, row.failure, row.received_bytes) == (State.FAILED, failure, 0)
    assert not list((home / "models").glob("*.gguf"))


def test_a_model_that_is_cut_short_is_refused(server: FileServer, tmp_path: Path) -> None:
    server.content = make_model(tmp_path, is_cut=True)
    assert run(start_download(server.url, NOON)).failure == Failure.NOT_GGUF


@pytest.mark.parametrize("has_length", [True, False])
def test_a_file_that_is_too_large_is_refused(
    server: FileServer, home: Path, settings: Any, has_length: bool
) -> None:
    settings.DOWNLOAD_BYTES = 2 * BLOCK_BYTES
    server.has_length = has_length
    row = run(start_download(server.url, NOON))
    assert (row.state, row.failure) == (State.FAILED, Failure.TOO_LARGE)
    assert list_folder(home) == []


def test_an_address_of_the_local_network_is_not_asked(server: FileServer, settings: Any) -> None:
    row = start_download(server.url, NOON)
    settings.OUTBOUND_ALLOWED = set()
    Download.objects.filter(pk=row.pk).update(url=f"https://{server.host.split(':')[0]}/tiny.gguf")
    assert run(row).failure == Failure.PRIVATE
    assert server.ranges == []


@pytest.mark.parametrize("deed", [pause_download, remove_download])
def test_who_pauses_or_removes_it_is_obeyed_in_mid_file(
    server: FileServer, home: Path, deed: Callable[[int], None]
) -> None:
    row, clock = start_download(server.url, NOON), make_clock()

    def act_in_mid_file() -> datetime:
        if server.sent > 2 * BLOCK_BYTES:
            deed(row.pk)
        return clock()

    server.slice_seconds = 0.01
    run_download(row.pk, act_in_mid_file, margin_bytes=0)
    assert server.sent < len(server.content)
    kept = Download.objects.filter(pk=row.pk).first()
    if deed is remove_download:
        assert (kept, list_folder(home)) == (None, [])
    else:
        assert kept.state == State.PAUSED
        assert 0 < kept.received_bytes <= (home / "models" / f"{row.pk}.part").stat().st_size


def test_a_process_that_is_to_end_leaves_it_to_the_next(server: FileServer) -> None:
    row = run(start_download(server.url, NOON), is_stopping=lambda: True)
    assert (row.state, row.failure, row.attempts) == (State.ACTIVE, "", 0)
    assert run(row).state == State.DONE


def test_one_process_at_a_time_fetches_a_file(server: FileServer, home: Path) -> None:
    row = start_download(server.url, NOON)
    (home / "models").mkdir(parents=True)
    with lock_part(home / "models" / f"{row.pk}.part"):
        run(row)
    assert server.ranges == []
    assert run(row).state == State.DONE


def test_killed_before_any_statement_it_is_run_again(server: FileServer, home: Path) -> None:
    def fetch() -> Download:
        row = Download.objects.filter(url=server.url).first() or start_download(server.url, NOON)
        return run(row)

    statements = count(fetch)
    remove_download(Download.objects.get().pk)
    PinnedDigest.objects.all().delete()
    assert statements > 10
    for number in range(1, statements):
        with killed(number=number):
            fetch()
        assert fetch().state == State.DONE
        assert list_folder(home) == ["tiny.gguf"]
        remove_download(Download.objects.get().pk)


def test_a_file_whose_check_kills_its_process_is_given_up_until_somebody_has_it_go_on(
    server: FileServer, home: Path
) -> None:
    row = start_download(server.url, NOON)
    for _ in range(MAX_CHECKS):
        with killed(begins('SELECT "providers_pinneddigest"')):  # comes right after the check
            run(row)
    row = run(row)
    assert (row.state, row.failure, row.is_received) == (State.FAILED, Failure.UNCHECKED, True)
    resume_download(row.pk, NOON)
    assert run(row).state == State.DONE
    assert len(server.ranges) == 1


def test_killed_between_its_name_and_the_row_it_is_found_in_its_place(server: FileServer, home: Path) -> None:
    row = run(start_download(server.url, NOON))
    Download.objects.filter(pk=row.pk).update(state=State.ACTIVE)
    assert run(row).state == State.DONE
    assert len(server.ranges) == 1
    assert list_folder(home) == ["tiny.gguf"]


def test_a_strangers_file_of_that_name_is_not_overwritten(server: FileServer, home: Path) -> None:
    (home / "models").mkdir(parents=True)
    (home / "models" / "tiny.gguf").write_bytes(b"mine")
    row = run(start_download(server.url, NOON))
    assert (row.state, row.failure) == (State.FAILED, Failure.NAME_TAKEN)
    assert (home / "models" / "tiny.gguf").read_bytes() == b"mine"
