"""How Postgres goes about recall's statements."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import connection

from bench.scale.asking import recall_all
from companions.models import Companion
from memory.embedding import embed_cue

WIDEST_LINE = 160  # a cue's vector is long


def plans(companion: Companion, cue: str) -> list[str]:
    """For each of recall's statements on that cue the lines of its plan, as it was carried out."""
    vector = embed_cue(cue, names=companion.names)
    if vector is None:
        return []
    sent: list[tuple[str, Sequence[Any]]] = []

    def note(execute: Callable[..., Any], sql: str, parameters: Sequence[Any], *rest: Any) -> Any:
        sent.append((sql, parameters))
        return execute(sql, parameters, *rest)

    with connection.execute_wrapper(note):
        recall_all(companion, cue, vector)
    return [_explained(*one) for one in sent if _is_asked(one[0])]


def _is_asked(sql: str) -> bool:
    return sql.lstrip().upper().startswith(("SELECT", "WITH"))


def _explained(sql: str, parameters: Sequence[Any]) -> str:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, COSTS OFF) {sql}", parameters)
        return "\n".join(line[:WIDEST_LINE] for (line,) in cursor.fetchall())
