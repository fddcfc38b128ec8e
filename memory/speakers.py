"""Whose words a cue asks for: "what did I say" asks for the user's, "what did you recommend" for the companion's."""

import regex

from memory.models import Memory

# "Do you remember what I said" asks the companion for the user's words: such frames say nothing.
FRAME = regex.compile(
    r"\b(?:do|did|can|could|will|would)\s+you\s+(?:(?:still|please|also)\s+)*(?:remember|recall|know|tell\s+me|remind\s+me|guess)\b"
    r"|\b(?:you\s+(?:know|remember)|thank\s+you|remind\s+me|tell\s+me|let\s+me)\b"
    r"|[你您]?还?(?:记得|知道)|[你您]?(?:能|可以)?告诉我(?!过)|(?:谢谢|请问)[你您]?|[你您]好"
)
PERSON = regex.compile(
    r"\b(?:(?P<user>i|me|my|mine|we|our)|(?P<companion>you|your|yours))\b|(?P<user>[我咱])|(?P<companion>[你您])"
)


def meant(cue: str) -> str:
    """The speaker whom the cue's first "I" or "you" names ("user" or "companion"), or ""."""
    match = PERSON.search(FRAME.sub(" ", cue.casefold().replace("’", "'")))
    if match is None:
        return ""
    return Memory.Speaker.USER if match["user"] else Memory.Speaker.COMPANION
