"""Kith's role of the embedded Postgres owns the database, and is no superuser."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from config.up.database import create_database
from config.up.home import load_secrets
from config.up.ports import find_free_port
from config.up.postgres import Postgres
from config.up.processes import Child
from config.up.stores import embedded_postgres, require_database
from config.up.terminal import UpError
from tests.fixtures.embedded import wait_until

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def address(shared_folder: Path) -> Iterator[str]:
    """DATABASE_URL as `make up` tells it, on a data folder of a Kith that came as the superuser."""
    home = shared_folder / "home"
    home.mkdir()
    kept = load_secrets(home)
    before = Postgres(home / "postgres", find_free_port(), kept["POSTGRES_PASSWORD"])
    child = Child(before.program(), home / "before.log")
    child.start()
    wait_until(before.is_ready, child)
    create_database(before)
    with psycopg.connect(before.url) as connection:
        connection.execute("CREATE EXTENSION vector")
        connection.execute("CREATE TABLE kept (id bigint GENERATED ALWAYS AS IDENTITY, at vector(2))")
        connection.execute("INSERT INTO kept (at) VALUES ('[1,0]')")
        connection.execute("CREATE SEQUENCE numbers")
        connection.execute("CREATE FUNCTION guard(n int) RETURNS int LANGUAGE sql AS 'SELECT n'")
    child.stop()
    after = embedded_postgres(home, find_free_port(), kept)
    child = Child(after.program(), home / "postgres.log")
    child.start()
    wait_until(after.is_ready, child)
    for _start in range(2):  # the second finds all done
        create_database(after)
    yield after.url
    child.stop()


def test_kiths_role_is_no_superuser_and_reads_no_files(address: str) -> None:
    with psycopg.connect(address) as connection:
        may = "rolsuper, rolcreatedb, rolcreaterole, rolbypassrls"
        row = connection.execute(f"SELECT {may} FROM pg_roles WHERE rolname = current_user").fetchone()
        assert row == (False,) * 4
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("SELECT pg_read_file('PG_VERSION')")


def test_its_password_does_not_open_the_superusers_door(address: str) -> None:
    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(address, user="kith")


def test_what_a_superuser_made_before_is_kept_and_is_its_own_now(address: str) -> None:
    with psycopg.connect(address) as connection:
        assert connection.execute("SELECT id, at <=> '[0,1]' FROM kept").fetchall() == [(1, 1.0)]
        connection.execute("INSERT INTO kept (at) VALUES ('[0,1]')")
        connection.execute("ALTER TABLE kept ADD COLUMN more text")
        connection.execute("ALTER SEQUENCE numbers RESTART 5")
        connection.execute("DROP FUNCTION guard(int)")
        connection.execute("CREATE TABLE anew (id int)")


def test_a_database_of_ones_own_whose_role_cannot_create_pgvector_is_told_as_such(
    address: str, shared_folder: Path
) -> None:
    password = load_secrets(shared_folder / "home")["POSTGRES_PASSWORD"]
    superuser = urlsplit(address)._replace(
        netloc=f"kith:{password}@{urlsplit(address).netloc.rpartition('@')[2]}"
    )
    own = urlsplit(address)._replace(path="/own").geturl()
    with psycopg.connect(superuser.geturl(), autocommit=True) as connection:
        connection.execute("CREATE DATABASE own OWNER kith_app")
    with pytest.raises(UpError, match="run CREATE EXTENSION vector in that database as a superuser"):
        require_database(own)
    with psycopg.connect(superuser._replace(path="/own").geturl()) as connection:
        connection.execute("CREATE EXTENSION vector")
    require_database(own)
