from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import RefusedError
from accounts.models import User
from companions.archives.manifest import read_manifest
from companions.archives.restore import restore
from files.archives import Archive


class Command(BaseCommand):
    help = "Restore a whole companion from a ZIP archive that export_archive has written, in this Kith or another."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the archive")
        parser.add_argument(
            "--owner", required=True, help="the e-mail address of the user whose companion it becomes"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        owner = User.objects.filter(email__iexact=options["owner"]).first()
        if owner is None:
            raise CommandError("Nobody has an account with that address.")
        try:
            with open(options["file"], "rb") as file:
                archive = Archive(file)
                self._total, self._told = read_manifest(archive).total, 0
                restored = restore(owner, archive, timezone.now(), self._tell)
        except (RefusedError, OSError) as error:
            raise CommandError(f"Nothing was restored: {getattr(error, 'detail', error)}") from error
        for remark in restored.remarks:
            self.stderr.write(remark)
        self.stdout.write(str(restored.companion.pk))

    def _tell(self, done: int) -> None:
        if done - self._told >= max(self._total // 10, 1):
            self._told = done
            self.stderr.write(f"{done:,} of {self._total:,} rows …")
