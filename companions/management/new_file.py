"""A new file that a command writes, with its progress on the terminal."""

import os
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.management.base import BaseCommand, CommandError

from accounts.errors import RefusedError

MEGABYTE = 1_000_000


def write_new_file(command: BaseCommand, pieces: AsyncIterator[bytes], name: str) -> int:
    """Write the pieces to a file that must not exist yet and that only its owner may read; return how many bytes that
    were. Raise CommandError.
    """
    path = Path(name)
    try:
        with open(path, "xb", opener=partial(os.open, mode=0o600)) as file:
            try:
                return async_to_sync(_write)(command, pieces, file)
            except BaseException:
                path.unlink()
                raise
    except (OSError, RefusedError) as error:
        raise CommandError(f"Nothing was written: {getattr(error, 'detail', error)}") from error


async def _write(command: BaseCommand, pieces: AsyncIterator[bytes], file: Any) -> int:
    size = reported = 0
    async for piece in pieces:
        size += file.write(piece)
        if size - reported > 50 * MEGABYTE:
            reported = size
            command.stderr.write(f"{size // MEGABYTE} MB …")
    return size
