"""`manage.py remove_second_step EMAIL`: for a person who has lost phone and recovery codes.

Afterwards the password alone signs them in.
"""

from argparse import ArgumentParser
from typing import Any

from allauth.mfa.models import Authenticator
from django.core.management.base import BaseCommand, CommandError

from accounts.models import User
from accounts.signup import notify_of_command

MAILS = {
    Authenticator.Type.TOTP: "mfa/email/totp_deactivated",
    Authenticator.Type.WEBAUTHN: "mfa/email/webauthn_removed",
}


class Command(BaseCommand):
    help = "Remove an account's authenticator app, passkeys and recovery codes. Its owner is told by e-mail."
    requires_system_checks: list[str] = []  # they load every page, which takes longer than the command

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email")

    def handle(self, *args: Any, email: str, **options: Any) -> None:
        user = User.objects.filter(email__iexact=email).first()
        if user is None:
            raise CommandError(f"There is no account for {email}.")
        removed = Authenticator.objects.filter(user=user)
        types = set(removed.values_list("type", flat=True))
        count, _models = removed.delete()
        self.stdout.write(f"Removed: {count}. The password alone opens the account of {user.email}.")
        for mail in [mail for type, mail in MAILS.items() if type in types]:
            notify_of_command(user, mail)
