"""What a notification says, as the service worker reads it."""

from typing import Any

import orjson
from django.urls import reverse
from django.utils.translation import gettext as _

from companions.models import Companion, Message
from text.shorten import shorten

BODY_CHARACTERS = 200
# Every payload is this long, so that its length tells nothing of its words; a push service takes 4096 encrypted.
PAYLOAD_BYTES = 3072


def payload(message: Message) -> bytes:
    """The notification of a message, as JSON with blanks behind it. Call it in the person's language."""
    companion = message.companion
    told = orjson.dumps(_told(companion, message))
    return told.ljust(PAYLOAD_BYTES)


def _told(companion: Companion, message: Message) -> dict[str, Any]:
    return {
        "title": _one_line(companion.name),
        "body": cut(message.text),
        "url": reverse("talk", args=[companion.pk]),
        "tag": f"companion-{companion.pk}",
        "companion": str(companion.pk),
        "mute": {"title": _("Mute"), "url": reverse("life_mute", args=[companion.pk])},
        "life": reverse("life", args=[companion.pk]),
    }


def cut(text: str) -> str:
    """The text in one line, of 200 characters at most."""
    return shorten(_one_line(text), BODY_CHARACTERS)


def _one_line(text: str) -> str:
    return " ".join(text.split())
