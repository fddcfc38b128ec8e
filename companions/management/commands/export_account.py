from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.models import User
from companions.management.new_file import MEGABYTE, write_new_file
from companions.transfer.account import export_account


class Command(BaseCommand):
    help = "Write everything of a person to a ZIP file, as “Download everything” does, also if the account is closed."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")
        parser.add_argument("file", help="the ZIP file to write; it must not exist yet")

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"]).first()
        if user is None:
            raise CommandError(f"There is no account for {options['email']}.")
        size = write_new_file(self, export_account(user, timezone.now()), options["file"])
        self.stdout.write(f"{user.email}: {size / MEGABYTE:.1f} MB.")
