from argparse import ArgumentParser
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


class Command(BaseCommand):
    help = "Write a whole companion to a ZIP archive, which import_archive restores, in this Kith or another."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("companion", help="the companion's id")
        parser.add_argument("file", help="the archive to write; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        path = Path(options["file"])
        try:
            companion = Companion.objects.select_related("user").get(pk=options["companion"])
            with path.open("xb") as file:
                try:
                    size = async_to_sync(self._write)(companion, file)
                except BaseException:
                    path.unlink()
                    raise
        except (Companion.DoesNotExist, ValidationError) as error:
            raise CommandError("There is no such companion.") from error
        except (OSError, RefusedError) as error:
            raise CommandError(f"Nothing was written: {getattr(error, 'detail', error)}") from error
        self.stdout.write(f"{companion.name}: {size / MEGABYTE:.1f} MB.")

    async def _write(self, companion: Companion, file: Any) -> int:
        size = reported = 0
        async for piece in export_archive(companion, timezone.now()):
            size += file.write(piece)
            if size - reported > 50 * MEGABYTE:
                reported = size
                self.stderr.write(f"{size // MEGABYTE} MB …")
        return size
