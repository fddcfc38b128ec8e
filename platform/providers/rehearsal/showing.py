"""What the rehearsal model shows of feelings: a tag before what it says, where its rules ask for tags."""

from collections.abc import Mapping, Sequence
from typing import Any

from providers.rehearsal.scene import plain, read
from providers.rehearsal.structured import feelings

ASKED = "<emotion "
QUESTIONS = ("?", "？")


def tag(text: str, messages: Sequence[Mapping[str, Any]]) -> str:
    """The tag that fits what it answers; nothing where none is asked for, or nothing is said."""
    rules = (plain(one.get("content")) for one in messages if one.get("role") == "system")
    if not text.strip() or not any(ASKED in one for one in rules):
        return ""
    name, intensity = feelings.emotion(read(messages).question)
    if name == "neutral" and text.rstrip().endswith(QUESTIONS):
        name, intensity = "curious", 0.4
    return f"<emotion {name} {intensity:g}>"
