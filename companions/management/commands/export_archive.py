from argparse import ArgumentParser
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from companions.archives.export import export_archive
from companions.management.new_file import MEGABYTE, write_new_file
from companions.models import Companion


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
