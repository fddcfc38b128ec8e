import secrets
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.errors import AccountExistsError
from accounts.models import User
from accounts.pages.forms import MAX_PASSWORD_CHARACTERS
from accounts.signup import create_account


class Command(BaseCommand):
    help = "Create an account. Without --password, print a random one and nothing else."
    requires_system_checks: list[str] = []  # they load every page, which takes longer than the command

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--password")
        parser.add_argument(
            "--staff", action="store_true", help="Make it an operator's, who may open the admin."
        )
        parser.add_argument("--superuser", action="store_true", help="Let it do everything in the admin.")

    def handle(self, *args: Any, **options: Any) -> None:
        email, password = options["email"], options["password"]
        if password == "":
            raise CommandError("The password is empty.")
        if password is not None:
            self._check(password, email)
        is_superuser = options["superuser"]
        is_staff = options["staff"] or is_superuser
        given = password or secrets.token_urlsafe(12)
        try:
            User._meta.get_field("email").clean(email, None)
            create_account(email, given, is_staff=is_staff, is_superuser=is_superuser)
        except ValidationError as error:
            raise CommandError(f"{email!r} is not an e-mail address.") from error
        except AccountExistsError as error:
            raise CommandError(str(error)) from error
        if password is None:
            self.stdout.write(given)

    def _check(self, password: str, email: str) -> None:
        """Raise CommandError for a password that the page would refuse."""
        if len(password) > MAX_PASSWORD_CHARACTERS:
            raise CommandError(f"The password is longer than {MAX_PASSWORD_CHARACTERS} characters.")
        try:
            validate_password(password, User(email=email))
        except ValidationError as error:
            reasons = " ".join(error.messages)
            raise CommandError(
                f"{reasons} Choose another one, or leave --password out to get a random one."
            ) from error
