"""How long one query may take: in the web process KITH_STATEMENT_SECONDS, but for what must be done whole."""

from django.db import connection


def lift_statement_timeout() -> None:
    """Let the queries of the transaction under way take as long as they need, as deletion must."""
    if not connection.in_atomic_block:
        raise RuntimeError("Only within a transaction: the connection is another's afterwards.")
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 0")
