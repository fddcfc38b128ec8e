"""What a message is asked of memory with: itself, or where it leans on what was said before it, with that."""

from companions import history
from companions.models import Message
from memory.reference import leans_on_talk
from memory.small_talk import is_small_talk

LINES = 4  # of the talk before: two exchanges
LINE_CHARACTERS = 300  # of each, its beginning


def cue_of(message: Message) -> str:
    """Return the message's text, after the lines that it leans on: one query where it leans on any.

    Those are the exchange before it, and the one before that where the person leant on it there as well. Small talk is
    left out.
    """
    names = message.companion.names
    if not leans_on_talk(message.text, names):
        return message.text
    said: list[str] = []
    for line in history.path(message.conversation, message.parent_id, LINES):
        if line.is_hidden or is_small_talk(line.text):
            continue
        said.append(line.text[:LINE_CHARACTERS])
        if line.role == Message.Role.USER and not leans_on_talk(line.text, names):
            break
    return "\n".join([*reversed(said), message.text])
