"""Bookmarks of messages that a user wants to find again."""

from datetime import datetime

from django.db.models import QuerySet

from companions.models import Bookmark, Companion, Message


def list_bookmarks(companion: Companion) -> QuerySet[Bookmark]:
    """Return the companion's bookmarks on the chosen branch, each with its message."""
    return Bookmark.objects.filter(companion=companion, message__is_asleep=False).select_related("message")


def set_bookmark(message: Message, now: datetime) -> Bookmark:
    """Return the message's bookmark, and create it if there is none."""
    made = {"companion_id": message.companion_id, "made_at": now}
    return Bookmark.objects.get_or_create(message=message, defaults=made)[0]


def remove_bookmark(message: Message) -> None:
    Bookmark.objects.filter(message=message).delete()
