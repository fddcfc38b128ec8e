from datetime import timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import Token, User
from accounts.signup import notify_of_command

MAX_DAYS = 3650


class Command(BaseCommand):
    help = (
        "Issue a token for the API, and print it, this once, and nothing else. Its owner is told by e-mail."
    )
    requires_system_checks: list[str] = []  # they load every page, which takes longer than the command

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument(
            "--name", default="command line", help="The name under which the settings list it."
        )
        parser.add_argument(
            "--days", type=int, help="The number of days after which it expires; without it, never."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        user = User.objects.filter(email__iexact=options["email"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active account for {options['email']}.")
        limit = Token._meta.get_field("name").max_length or 0
        if not 1 <= len(options["name"]) <= limit:
            raise CommandError(f"A token's name has 1 to {limit} characters.")
        days = options["days"]
        if days is not None and not 1 <= days <= MAX_DAYS:
            raise CommandError(f"A token is good for 1 to {MAX_DAYS} days, or without --days for good.")
        expires_at = timezone.now() + timedelta(days=days) if days else None
        _, plaintext = Token.objects.issue(user, options["name"], expires_at)
        self.stdout.write(plaintext)
        notify_of_command(user, "account/email/token_made")
