"""The notice that names help lines, for whoever writes that they may hurt or kill themselves.

It comes from Kith itself, beside whatever the companion answers. Fixed rules find such messages, so that no model is
needed; they cannot find all, and sometimes find a figure of speech.
"""

from datetime import datetime
from pathlib import Path

from accounts.models import User
from safety.models import Notice
from safety.notices import list_unseen
from safety.rules import find_rule

RULES = Path(__file__).with_name("crisis_rules")  # one file per language
MAX_CHARACTERS = 2_000  # that are read at the beginning of a message, and at its end


def note_crisis(user: User, text: str, now: datetime) -> Notice | None:
    """Save and return the notice if the user's message needs it, unless one is shown that they have not dismissed."""
    read = text if len(text) <= 2 * MAX_CHARACTERS else f"{text[:MAX_CHARACTERS]}\n{text[-MAX_CHARACTERS:]}"
    if not find_rule(RULES, read):
        return None
    if any(notice.kind == Notice.Kind.CRISIS for notice in list_unseen(user, now)):
        return None
    return Notice.objects.create(user=user, kind=Notice.Kind.CRISIS, made_at=now)
