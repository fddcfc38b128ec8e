import json
from argparse import ArgumentParser
from typing import Any

import pydantic
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import RefusedError
from companions.api.jobs import LogIn
from companions.models import Companion
from companions.pasts.log_import import Line, import_log


class Command(BaseCommand):
    help = "Import a log of earlier talk: a JSON file in the form of POST …/import/log."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("companion", help="the companion's id")
        parser.add_argument(
            "file", help='JSON: {"messages": [{"role", "text", "at", "client_id"?, "name"?}]}'
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            companion = Companion.objects.get(pk=options["companion"])
            with open(options["file"], encoding="utf-8") as file:
                log = LogIn.model_validate(json.load(file))
            job = import_log(companion, [Line(**line.dict()) for line in log.messages], timezone.now())
        except (Companion.DoesNotExist, ValidationError) as error:
            raise CommandError("Nothing was imported: there is no such companion.") from error
        except pydantic.ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"]))
            raise CommandError(f"Nothing was imported: {place}: {first['msg']}.") from error
        except (ValueError, OSError, RefusedError) as error:
            raise CommandError(f"Nothing was imported: {getattr(error, 'detail', error)}") from error
        self.stdout.write(f"{job.total} messages imported; they can be recalled by their words now.")
