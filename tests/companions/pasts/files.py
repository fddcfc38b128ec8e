"""Importing a file of earlier talk as its person does."""

from datetime import datetime

from companions.models import Companion, PastImport
from companions.pasts import imports
from companions.pasts.imports import Wanted
from companions.pasts.uploads import keep_upload, read_content_of
from tests.fixtures.clock import clock_at


def begin(companion: Companion, content: bytes, now: datetime, wanted: Wanted | None = None) -> PastImport:
    """The import of the file, which has yet to be run."""
    read = read_content_of(companion.user, content)
    upload = keep_upload(companion.user, content, read.form, "chat.jsonl", now)
    return imports.begin(companion, upload, read, wanted or Wanted(), now)


def imported(companion: Companion, content: bytes, now: datetime, wanted: Wanted | None = None) -> PastImport:
    """The import after it was run."""
    past = begin(companion, content, now, wanted)
    imports.run(past.pk, clock_at(now))
    past.refresh_from_db()
    return past
