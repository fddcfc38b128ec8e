import os
from argparse import ArgumentParser
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

from asgiref.sync import async_to_sync
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import RefusedError
from companions.archives.export import export_archive
from companions.models import Companion

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


class Command(BaseCommand):
    help = "Write a whole companion to a ZIP archive, which import_archive restores, in this Kith or another."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("companion", help="the companion's id")
        parser.add_argument("file", help="the archive to write; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            companion = Companion.objects.select_related("user").get(pk=options["companion"])
        except (Companion.DoesNotExist, ValidationError) as error:
            raise CommandError("There is no such companion.") from error
        size = write_new_file(self, export_archive(companion, timezone.now()), options["file"])
        self.stdout.write(f"{companion.name}: {size / MEGABYTE:.1f} MB.")
