"""What may be said: text that a database can keep, not empty, not too long."""

from django.conf import settings
from django.utils.translation import gettext as _

from companions.errors import TextError
from memory.text import is_storable


def checked(text: str) -> str:
    """The text as it came; raises TextError where it is empty, too long, or not storable as UTF-8 text."""
    if not text.strip():
        raise TextError("empty_message", _("There is nothing in this message."))
    if len(text) > settings.MESSAGE_CHARACTERS:
        limit = settings.MESSAGE_CHARACTERS
        raise TextError(
            "message_too_long", _("A message can hold %(limit)s characters.") % {"limit": f"{limit:,}"}
        )
    if not is_storable(text):
        raise TextError("bad_text", _("This message holds characters that are not text."))
    return text
