from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import RefusedError
from accounts.models import User
from cards.reader import read_card
from companions.transfer import card_import


class Command(BaseCommand):
    help = "Create a companion from a character card, and print its id and nothing else."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="a card as JSON, PNG or CHARX")
        parser.add_argument(
            "--owner", required=True, metavar="EMAIL", help="the user whose companion it becomes"
        )
        parser.add_argument("--name", default="", help="the companion's name, if not the card's")
        parser.add_argument(
            "--greeting",
            type=int,
            default=0,
            help="the number of the greeting with which it begins; the first is 0 (default)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["owner"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active account for {options['owner']}.")
        now = timezone.now()
        try:
            path = Path(options["file"])
            if path.stat().st_size > settings.CARD_BYTES:
                raise CommandError(f"Nothing was made: the file has more than {settings.CARD_BYTES:,} bytes.")
            with path.open("rb") as file:
                upload = card_import.keep_upload(user, read_card(file), file, now)
            upload_id = upload.pk
            try:
                companion = card_import.make_companion(
                    upload, now, name=options["name"], greeting=options["greeting"]
                )
            finally:
                card_import.drop_upload(upload_id)  # if no companion was made of it
        except (OSError, RefusedError) as error:
            raise CommandError(f"Nothing was made: {getattr(error, 'detail', error)}") from error
        self.stdout.write(str(companion.pk))
