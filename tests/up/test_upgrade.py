"""A database of an earlier release comes up under today's code, with its talk and its memories."""

import gzip
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from django.conf import settings
from psycopg import sql

from tests.fixtures.databases import address_of, copy_database, drop_database

pytestmark = pytest.mark.processes

DUMP = Path(__file__).parents[1] / "fixtures" / "database_0_1_0.sql.gz"  # made by pg_dump of a Kith 0.1.0
GREETING_ID = "8ab11533-636b-4daa-9e2f-3c2aa6006ae1"  # what the companion said first
GREETING = "I am {{char}}. Hello, {{user}} <3"
NOTATION = re.compile(r"[()]|::(character varying|text)(\[\])?")
SCHEMA = {
    "columns": """
        SELECT table_name, column_name, udt_name, character_maximum_length, is_nullable, column_default,
               is_identity, generation_expression
        FROM information_schema.columns WHERE table_schema = 'public'
    """,
    "constraints": """
        SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
        FROM pg_constraint WHERE connamespace = 'public'::regnamespace
    """,
    "indexes": "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "triggers": "SELECT tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
}


def read_schema(address: str) -> dict[str, set[tuple[str, ...]]]:
    """Return columns, constraints, indexes and triggers of a database, without the order of columns.

    Brackets and casts are left out: Postgres writes those of a restored definition in other places.
    """
    with psycopg.connect(address) as connection:
        rows = {kind: connection.execute(query).fetchall() for kind, query in SCHEMA.items()}
    return {
        kind: {tuple(NOTATION.sub("", str(cell)) for cell in row) for row in rows[kind]} for kind in SCHEMA
    }


def migrate(address: str) -> None:
    """Bring a database up to date as `make up` does."""
    environment = os.environ | {"DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "config.settings"}
    command = [sys.executable, "manage.py", "migrate", "--no-input", "-v", "0", "--skip-checks"]
    subprocess.run(command, cwd=settings.BASE_DIR, env=environment, check=True, timeout=300)


@pytest.fixture(scope="module")
def fresh() -> Iterator[str]:
    """The address of a database that was empty when it was brought up to date: a copy of all tests' template."""
    name = f"fresh_{uuid4().hex[:12]}"
    copy_database(name)
    yield address_of(name)
    drop_database(name)


@pytest.fixture(scope="module")
def upgraded() -> Iterator[str]:
    """The address of what was 0.1.0's database and is up to date now."""
    name = f"upgrade_{uuid4().hex[:12]}"
    address = address_of(name)
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    lines = gzip.decompress(DUMP.read_bytes()).decode().splitlines(keepends=True)
    with psycopg.connect(address) as connection:
        connection.execute("".join(line for line in lines if not line.startswith("\\")))
        # It has a parent, as one has that is preceded by a log imported later.
        connection.execute(
            """
            UPDATE public.companions_message SET text = %s, said_at = companion.created_at
            FROM public.companions_companion companion
            WHERE companion.id = companion_id AND companions_message.id = %s AND parent_id IS NOT NULL
            """,
            [GREETING, GREETING_ID],
        )
        connection.execute(
            "UPDATE public.memory_memory SET text = %s WHERE message_id = %s", [GREETING, GREETING_ID]
        )
    migrate(address)
    yield address
    drop_database(name)


def test_an_empty_database_and_one_of_0_1_0_arrive_at_the_same_tables(fresh: str, upgraded: str) -> None:
    old, new = read_schema(upgraded), read_schema(fresh)
    differences = {kind: sorted(old[kind] ^ new[kind], key=str) for kind in SCHEMA if old[kind] != new[kind]}
    assert differences == {}


def test_a_database_of_0_1_0_keeps_its_talk_and_memories(upgraded: str) -> None:
    with psycopg.connect(upgraded) as connection:
        said = connection.execute(
            "SELECT text FROM companions_message WHERE role = 'user' ORDER BY id"
        ).fetchall()
        counted = connection.execute(
            "SELECT count(*), count(DISTINCT memory_id) FROM memory_embedding"
        ).fetchone()
        remembered = connection.execute("SELECT count(*) FROM memory_memory").fetchone()
        slot = connection.execute("SELECT text FROM memory_slot").fetchall()
    assert {text for (text,) in said} == {
        "My sister Hanna moved to Lisbon in May.",
        "I am allergic to walnuts, please remember.",
        "Where did my sister move to?",
        "What am I allergic to?",
    }
    assert remembered == (12,)
    assert counted == (11, 11)  # the greeting is embedded anew
    assert slot == [("Green tea, no sugar.",)]


def test_a_greeting_of_0_1_0_has_the_names_in_it(upgraded: str) -> None:
    with psycopg.connect(upgraded) as connection:
        tables = (("companions_message", "id"), ("memory_memory", "message_id"))
        texts = [
            connection.execute(f"SELECT text FROM {table} WHERE {key} = %s", [GREETING_ID]).fetchall()
            for table, key in tables
        ]
    assert texts == [[("I am Wren. Hello, you <3",)]] * 2


def test_what_was_brought_up_to_date_needs_nothing_more(fresh: str, upgraded: str) -> None:
    def applied(address: str) -> set[tuple[object, ...]]:
        with psycopg.connect(address) as connection:
            return set(connection.execute("SELECT app, name FROM django_migrations").fetchall())

    assert applied(fresh)
    assert applied(fresh) - applied(upgraded) == set()
