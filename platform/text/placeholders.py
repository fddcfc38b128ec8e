"""Names in character cards: the placeholders `{{char}}`, `{{user}}`, and the older `<BOT>`, `<USER>`. Pure."""

import re

PLACEHOLDER = re.compile(
    r"\{\{\s{0,3}(?:(?P<char>char)|user)\s{0,3}\}\}|<(?:(?P<bot>bot|char)|user)>", re.IGNORECASE
)


def expand_placeholders(text: str, *, char: str, user: str) -> str:
    """Return the text with the companion's name and the person's in place of the placeholders."""
    return PLACEHOLDER.sub(lambda match: char if match["char"] or match["bot"] else user, text)
