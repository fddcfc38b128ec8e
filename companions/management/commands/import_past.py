from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from accounts.errors import RefusedError
from companions.models import Companion, PastImport
from companions.pasts import imports
from companions.pasts.learning import NIGHTLY_TOKENS
from companions.pasts.plan import Choice
from companions.pasts.uploads import keep_upload, read_content_of


class Command(BaseCommand):
    help = (
        "Import a file of earlier talk: from SillyTavern, ChatGPT, Claude, DeepSeek, Character.AI, RisuAI, KoboldAI"
        " Lite, text-generation-webui, or plain text."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", help="the file")
        parser.add_argument("--companion", required=True, help="the companion's id")
        parser.add_argument("--format", default="", help="the program that wrote it; recognised if omitted")
        parser.add_argument("--person", default="", help="the name of the speaker who is the user")
        parser.add_argument(
            "--pattern",
            default="",
            help="the form of each line of plain text, e.g. '[{date}] {name}: {text}'",
        )
        parser.add_argument("--learn", action="store_true", help="also learn from it, some of it each night")
        parser.add_argument(
            "--nightly-tokens",
            type=int,
            default=NIGHTLY_TOKENS,
            help="the maximum number of tokens that learning takes in a night",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        now, path = timezone.now(), Path(options["file"])
        wanted = imports.Wanted(
            choice=Choice(person=options["person"]),
            pattern=options["pattern"],
            nightly_tokens=options["nightly_tokens"] if options["learn"] else None,
        )
        try:
            companion = Companion.objects.select_related("user").get(pk=options["companion"])
            content = path.read_bytes()
            read = read_content_of(
                companion.user, content, form=options["format"], pattern=options["pattern"]
            )
            upload = keep_upload(companion.user, content, read.form, path.name, now)
            past = imports.begin(companion, upload, read, wanted, now)
        except (Companion.DoesNotExist, ValidationError) as error:
            raise CommandError("Nothing was imported: there is no such companion.") from error
        except (OSError, RefusedError) as error:
            raise CommandError(f"Nothing was imported: {getattr(error, 'detail', error)}") from error
        imports.run(past.pk, timezone.now)
        past = PastImport.objects.get(pk=past.pk)
        if past.state != PastImport.State.DONE:
            raise CommandError(f"It could not be finished now, and is gone on with: {past.error}")
        self.stdout.write(
            f"{past.messages_count} messages imported, {past.skipped_count} were there;"
            " they can be recalled by their words now."
        )
