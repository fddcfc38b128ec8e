"""The try-out: which lore a text would call, as if a person said it now, and said nothing before."""

from datetime import datetime

from companions.lore.explanation import Explanation, explain
from companions.lore.turn import describe_scan, find_lore
from companions.models import Companion, Message
from providers.preference import preferring

MAX_TEXT_CHARACTERS = 10_000


def try_text(companion: Companion, text: str, now: datetime, *, seed: int) -> Explanation:
    """Return which entries the text alone calls and why, and which are left out; nothing is kept of it."""
    message = Message(companion=companion, text=text, said_at=now)
    with preferring(companion.preference):
        found = find_lore(companion, message, [(Message.Role.USER, text)], seed=seed)
    return explain(describe_scan(found))
