"""A worker that is killed in the midst of a model's file: the next one goes on where it was."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from config.up.processes import Child
from config.up.run import worker_program
from providers.downloads.models import Download
from tests.fixtures.file_server import FileServer
from tests.fixtures.gguf import write_gguf
from tests.processes.house import ROOT, House, eventually, kill

pytestmark = pytest.mark.processes
BYTES = 8_000_000
KILLS = 2


@pytest.mark.timeout(600)
def test_a_killed_workers_download_goes_on_where_it_was(house: House, tmp_path: Path) -> None:
    content = write_gguf(tmp_path / "made", weights=BYTES // 4).read_bytes()
    house.worker.stop()  # one with beat, and with leave to ask the file's server, stands in for it
    with FileServer(content, slice_seconds=0.02) as server:
        environment = house.environment() | {"KITH_OUTBOUND_ALLOWED": server.host, "KITH_TICK_SECONDS": "2"}
        worker = Child(worker_program(with_beat=True).within(ROOT, environment), house.home / "fetching.log")
        rows = house.rows(Download)
        row = rows.create(
            url=server.url, name="Tiny", file_name="tiny.gguf", next_at=datetime(2026, 1, 1, tzinfo=UTC)
        )
        try:
            received = 0
            for _ in range(KILLS):
                worker.start()
                eventually(rows.filter(pk=row.pk, received_bytes__gt=received).exists, 120)
                kill(worker)
                received = rows.get(pk=row.pk).received_bytes
                assert received < len(content)
            server.slice_seconds = 0.0
            worker.start()
            eventually(rows.filter(pk=row.pk, state=Download.State.DONE).exists, 120)
        finally:
            worker.kill()
    assert server.ranges[0] is None
    assert len(server.ranges) == KILLS + 1
    assert server.ranges[-1] == f"bytes={received}-"
    assert (house.home / "models" / "tiny.gguf").read_bytes() == content
    assert [path.name for path in (house.home / "models").glob("*.part")] == []
