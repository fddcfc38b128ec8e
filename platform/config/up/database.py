"""Kith's database and its role in the embedded Postgres: created if missing, at each start."""

from typing import Any

import psycopg
from psycopg import sql

from config.up.postgres import DATABASE, ROLE, Postgres
from config.up.terminal import UpError

# Tables, views and sequences, and routines, that another role owns and that belong to no extension.
_LEFT_RELATIONS = """
    SELECT c.relname FROM pg_class c
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
      AND c.relowner <> %(role)s::regrole AND NOT EXISTS (
        SELECT FROM pg_depend d
        WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('e', 'a', 'i')
      )
"""
_LEFT_ROUTINES = """
    SELECT p.oid::regprocedure::text FROM pg_proc p
    WHERE p.pronamespace = 'public'::regnamespace AND p.proowner <> %(role)s::regrole AND NOT EXISTS (
        SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
      )
"""


def create_database(postgres: Postgres) -> None:
    """Create Kith's database, and its role if that has a password, unless they exist; the server accepts connections.

    Raise UpError if it does not accept the password: its folder was restored without the secrets of that time.
    """
    try:
        with psycopg.connect(postgres.superuser_url("postgres"), autocommit=True) as connection:
            known = "SELECT FROM pg_database WHERE datname = %s"
            if connection.execute(known, [DATABASE]).fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE)))
    except psycopg.OperationalError as error:
        if "password authentication failed" not in str(error):
            raise
        raise UpError(
            f"The PostgreSQL in {postgres.folder} does not accept the password in {postgres.folder.parent / 'secrets'}."
            f" Put the file `secrets` there that belongs to {postgres.folder.name}/: both are in the same backup."
        ) from error
    if postgres.role_password:
        with psycopg.connect(postgres.superuser_url(DATABASE)) as connection:
            _hand_over(connection, postgres.role_password)


def _hand_over(connection: psycopg.Connection[tuple[Any, ...]], password: str) -> None:
    """Make Kith's role, created if missing, the owner of the database and of all in it; done at each start."""
    # pgvector is no trusted extension: only a superuser may create it.
    connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
    if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [ROLE]).fetchone() is None:
        connection.execute(sql.SQL("CREATE ROLE {}").format(role))
    connection.execute(
        sql.SQL("ALTER ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE PASSWORD {}").format(role, password)
    )
    connection.execute(sql.SQL("ALTER DATABASE {} OWNER TO {}").format(database, role))
    for (name,) in connection.execute(_LEFT_RELATIONS, {"role": ROLE}).fetchall():
        table = sql.Identifier("public", name)
        connection.execute(sql.SQL("ALTER TABLE {} OWNER TO {}").format(table, role))
    for (signature,) in connection.execute(_LEFT_ROUTINES, {"role": ROLE}).fetchall():
        connection.execute(sql.SQL("ALTER ROUTINE {} OWNER TO {}").format(sql.SQL(signature), role))
