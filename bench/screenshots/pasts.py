"""Earlier talk that somebody brought, for bench/screenshots/seed.py: a chat that is looked at, and one that came."""

from datetime import datetime, timedelta

from accounts.models import User
from bench.common.past_files import Line, sillytavern
from companions.models import Companion, PastImport, PastUpload
from companions.pasts import imports, learning
from companions.pasts.imports import Wanted
from companions.pasts.uploads import keep_upload, read_content_of
from tests.fixtures.clock import clock_at

SAID = (
    "The harbour office took me. I begin on Monday.",
    "Monday! Then tonight we iron the shirt, and tomorrow you sleep.",
    "Plum hides under the stove since the rain began.",
    "Then the stove stays off, and we wear coats.",
)
SWIPES = {1: ["I knew it.", "Of course they did."]}


def make_file(now: datetime, *, days: int = 3, person: str = "Alice", dated: bool = True) -> bytes:
    """Return a chat of so many evenings, a year ago."""
    lines: list[Line] = []
    for day in range(days):
        for place, text in enumerate(SAID):
            at = now - timedelta(days=365 - 2 * day, minutes=-place) if dated else None
            lines.append((place % 2 == 0, text, at))
    return sillytavern(lines, SWIPES, person=person, character="Odo")


def keep_past(person: User, now: datetime) -> PastUpload:
    """Keep a chat as somebody's upload, part of which came before."""
    content = make_file(now, days=5, person=person.name)
    return keep_upload(person, content, "sillytavern", "Odo - 2025-11-02@21h14m.jsonl", now)


def keep_text(person: User, now: datetime) -> PastUpload:
    """Keep a text of which nothing says how it tells who speaks."""
    lines = "\n".join(f"{('Alice', 'Odo')[place % 2]} >> {text}" for place, text in enumerate(SAID))
    return keep_upload(person, lines.encode(), "text", "notes.txt", now)


def bring_past(companion: Companion, now: datetime) -> PastImport:
    """Have the companion remember one past, learnt from at night but paused, and another that is still coming in."""
    user = companion.user
    for content, wanted in (
        (make_file(now, person=user.name), Wanted(nightly_tokens=learning.NIGHTLY_TOKENS)),
        (make_file(now, days=1, dated=False, person=user.name), Wanted()),
    ):
        read = read_content_of(user, content)
        past = imports.begin(companion, keep_upload(user, content, read.form, "", now), read, wanted, now)
        if wanted.nightly_tokens:
            imports.run(past.pk, clock_at(now))
            learning.change_learning(past, now, is_running=False)
    return past
