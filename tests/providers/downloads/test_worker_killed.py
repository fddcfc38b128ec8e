"""A worker that is killed in the midst of a model's file: the next one goes on where it was."""

import os
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.db import connection
from django.db.models import QuerySet

from config.up.processes import Child
from config.up.run import worker_program
from providers.downloads.models import Download
from tests.fixtures.databases import ENVIRONMENT, ROOT, address_of
from tests.fixtures.file_server import FileServer
from tests.fixtures.gguf import write_gguf

BYTES = 8_000_000
PATIENCE_SECONDS = 150


def wait_for(rows: QuerySet[Download]) -> None:
    """Wait until there is one of them; AssertionError where none comes."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not rows.exists():
        assert time.monotonic() < deadline, Download.objects.values()
        time.sleep(0.05)


@pytest.mark.processes
@pytest.mark.timeout(900)
@pytest.mark.django_db(transaction=True)
def test_a_killed_workers_download_goes_on_where_it_was(tmp_path: Path) -> None:
    content = write_gguf(tmp_path / "made", weights=BYTES // 4).read_bytes()
    with FileServer(content, slice_seconds=0.02) as server:
        environment = ENVIRONMENT | {
            "DATABASE_URL": address_of(str(connection.settings_dict["NAME"])),
            "KITH_HOME": str(tmp_path),
            "KITH_OUTBOUND_ALLOWED": server.host,
            "KITH_TICK_SECONDS": "2",
            "REDIS_URL": os.environ["REDIS_URL"],
        }
        worker = Child(worker_program(with_beat=True).within(ROOT, environment), tmp_path / "worker.log")
        row = Download.objects.create(
            url=server.url, name="Tiny", file_name="tiny.gguf", next_at=datetime(2026, 1, 1, tzinfo=UTC)
        )
        try:
            worker.start()
            wait_for(Download.objects.filter(received_bytes__gt=0))
            worker.kill()
            row.refresh_from_db()
            received = row.received_bytes
            assert received < len(content)
            server.slice_seconds = 0.0
            worker.start()
            wait_for(Download.objects.filter(state=Download.State.DONE))
        finally:
            worker.kill()
    assert server.ranges == [None, f"bytes={received}-"]
    assert (tmp_path / "models" / "tiny.gguf").read_bytes() == content
    assert not list((tmp_path / "models").glob("*.part"))
