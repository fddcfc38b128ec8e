"""What of a model's answer is said to the person. Pure."""

import re

from companions.expressing import apart
from memory.text import shortened, storable

MOST_CHARACTERS = 4000  # of what is said unprompted
AROUND = r"[\s.…·*_()\[\]<>（）【】。-]*+"  # possessive: a model may go on with dots for as long as it likes
SILENCE = re.compile(rf"(?i){AROUND}(?:silen(?:t|ce)|stay(?:s|ing)? silent|沉默|不说话)?{AROUND}")
OTHERS = ("user", "person", "human", "用户")


def expressed(text: str, companion: str, user: str) -> tuple[str, list[dict[str, object]]]:
    """What the companion says, and its emotions, each with the place in that from which it holds."""
    words, felt = apart(text)
    said = spoken(words, companion, user)
    before = max(words.find(said[:40]), 0)
    rows = [one.row() | {"at": max(one.at - before, 0)} for one in felt if one.at <= before + len(said)]
    return said, rows if said else []


def spoken(text: str, companion: str, user: str) -> str:
    """What the companion says: without its own name before it, and nothing from where it goes on as the person.

    Nothing where it says nothing, or only that it is silent; at most 4,000 characters.
    """
    words = re.sub(rf"(?i)^\s*\**{re.escape(companion)}\**\s*[:：]\s*", "", storable(text))
    names = "|".join(re.escape(name) for name in (*OTHERS, user) if name.strip())
    words = re.split(rf"(?im)^[^\S\n]*+\**+(?:{names})\**\s*[:：]", words, maxsplit=1)[0].strip()
    return "" if SILENCE.fullmatch(words) else shortened(words, MOST_CHARACTERS)
