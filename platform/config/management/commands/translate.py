from typing import Any

from django.core.management.base import BaseCommand

from config.translations import LOCALES, is_translated, renew


class Command(BaseCommand):
    help = "Gather what is to be translated into locale/, and compile it. Needs requirements-dev.txt."

    def handle(self, *args: Any, **options: Any) -> None:
        for locale in LOCALES:
            catalog = renew(locale)
            missing = [message.id for message in catalog if message.id and not is_translated(message)]
            self.stdout.write(f"{locale}: {len(catalog)} texts, {len(missing)} not translated yet")
            for text in missing:
                self.stdout.write(f"  {text}")
