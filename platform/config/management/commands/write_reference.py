from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from config.reference_docs import write_reference


class Command(BaseCommand):
    help = "Write docs/settings.md and docs/data-model.md anew from the code."

    def handle(self, *args: Any, **options: Any) -> None:
        for path in write_reference(settings.BASE_DIR / "docs"):
            self.stdout.write(str(path.relative_to(settings.BASE_DIR)))
