"""The file `deletions` in KITH_HOME: what people have deleted, by which it is deleted again in a restored backup.

Each line names a kind, an id and a time, and nobody. The file is no part of a backup: an older one would miss what was
deleted since.
"""

import os
import re
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from django.conf import settings
from django.db import transaction

FILE = "deletions"
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{6})?\+00:00"
# Numbers are given again after a restore: one stands with the account's beginning, or with the companion's id.
KINDS = {"account": rf"\d+@{TIME}", "slot": rf"\d+@{UUID}", "block": rf"\d+@{UUID}"}
KINDS |= dict.fromkeys(("companion", "past", "document", "diary", "message", "memory"), UUID)


def note_deletions(kind: str, ids: Iterable[object]) -> None:
    """Append a line for each object of one of the KINDS to the file once the transaction that deletes them commits."""
    if listed := [str(id) for id in ids]:
        transaction.on_commit(partial(_append, kind, listed), robust=True)


def read_deletions() -> dict[str, list[tuple[str, datetime]]]:
    """Return the id and time of every deletion, by kind.

    What cannot be read is skipped, such as the beginning of a line that a full disk cut off; the next line then follows
    it without a break.
    """
    path = _find_file()
    text = path.read_text("utf-8", "replace") if path.exists() else ""
    listed: dict[str, list[tuple[str, datetime]]] = {kind: [] for kind in KINDS}
    for kind, id_pattern in KINDS.items():
        for id, at in re.findall(rf"(?m){kind} ({id_pattern}) ({TIME})$", text):
            with suppress(ValueError):  # no such day
                listed[kind].append((id, datetime.fromisoformat(at)))
    return listed


def _append(kind: str, ids: Iterable[str]) -> None:
    at = datetime.now(UTC).isoformat()
    descriptor = os.open(_find_file(), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "a", encoding="utf-8") as file:
        file.writelines(f"{kind} {id} {at}\n" for id in ids)
        file.flush()
        os.fsync(file.fileno())


def _find_file() -> Path:
    return Path(settings.KITH_HOME) / FILE
