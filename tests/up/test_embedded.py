"""The embedded services, started, killed and started again."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import psycopg
import pytest
import redis

from config.up.database import create_database
from config.up.postgres import Postgres
from config.up.supervisor import last_line
from config.up.terminal import UpError
from tests.fixtures.embedded import Embedded

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def services(shared_folder: Path) -> Iterator[Embedded]:
    with Embedded(shared_folder / 'a "home" of 我 \\ $mine') as embedded:
        yield embedded


def test_postgres_compares_vectors(services: Embedded) -> None:
    with psycopg.connect(services.database_url) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        row = connection.execute("SELECT '[1,0]'::vector <=> '[0,1]', lower('É')").fetchone()
    assert row == (1.0, "é")


def test_both_refuse_a_client_without_the_password(services: Embedded) -> None:
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(services.database_url, password="guess")
    address = services.redis_url.replace("redis://:", "redis://:guess")
    with redis.Redis.from_url(address) as client, pytest.raises(redis.AuthenticationError):
        client.ping()


def test_postgres_is_not_prepared_where_it_has_another_password(services: Embedded) -> None:
    """As after a restore without the file `secrets`."""
    port = urlsplit(services.database_url).port or 0
    with pytest.raises(UpError, match=r"does not accept the password in .*/secrets"):
        create_database(Postgres(services.home / "postgres", port, "guess"))


def test_rows_outlive_a_kill_of_both_and_redis_begins_anew(services: Embedded) -> None:
    with psycopg.connect(services.database_url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 1 AS one")
    with redis.Redis.from_url(services.redis_url) as client:
        client.set("said", "in passing")
    os.kill(services.postgres.pid, signal.SIGKILL)
    os.kill(services.redis.pid, signal.SIGKILL)
    psutil.wait_procs([psutil.Process(services.postgres.pid), psutil.Process(services.redis.pid)], timeout=30)

    services.start()

    with psycopg.connect(services.database_url) as connection:
        assert connection.execute("SELECT one FROM kept").fetchone() == (1,)
    with redis.Redis.from_url(services.redis_url) as client:
        assert client.get("said") is None
    written = (path for path in (services.home / "redis").rglob("*") if path.is_file())
    assert not [path.name for path in written if b"in passing" in path.read_bytes()]


def test_a_busy_backend_whose_postmaster_was_killed_does_not_stop_the_next_start(services: Embedded) -> None:
    with psycopg.connect(services.database_url) as connection:
        backend = connection.info.backend_pid
        os.kill(backend, signal.SIGSTOP)  # so that it cannot notice
        os.kill(services.postgres.pid, signal.SIGKILL)
        services.postgres.process.wait()
        services.start()
        assert not psutil.pid_exists(backend)


def test_a_stale_lock_file_that_names_a_living_process_is_cleared(services: Embedded) -> None:
    os.kill(services.postgres.pid, signal.SIGKILL)
    services.postgres.process.wait()
    lock: Path = services.home / "postgres" / "postmaster.pid"
    lines = lock.read_text().splitlines()
    lock.write_text("\n".join([str(services.redis.pid), *lines[1:]]) + "\n")

    services.start()

    with psycopg.connect(services.database_url) as connection:
        assert connection.execute("SELECT 1").fetchone() == (1,)


if os.geteuid() == 0:  # then Postgres has an account of its own

    def test_a_folder_that_was_restored_with_another_owner_is_its_own_again(services: Embedded) -> None:
        services.postgres.stop()
        folder = services.home / "postgres"
        for path in [folder, *folder.rglob("*")]:
            os.chown(path, 4242, 4242, follow_symlinks=False)

        services.start()

        with psycopg.connect(services.database_url) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_missing_part_is_named_in_the_last_words(tmp_path: Path) -> None:
    """As after a restore from a copy without empty folders."""
    with Embedded(tmp_path, durable=False) as services:
        services.postgres.stop()
        shutil.rmtree(tmp_path / "postgres" / "pg_notify")
        services.postgres.start()
        assert services.postgres.process
        services.postgres.process.wait()
        last = last_line(services.postgres.log_path, services.postgres.program.complaint)
    assert 'could not open directory "pg_notify"' in last


def test_a_command_is_lent_both_services_and_its_status_comes_back() -> None:
    asked = "import os, psycopg, sys; psycopg.connect(os.environ['DATABASE_URL']); sys.exit(7)"
    lent = [sys.executable, "-m", "tests.fixtures.embedded", sys.executable, "-c", asked]
    assert subprocess.run(lent).returncode == 7
