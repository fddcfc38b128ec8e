"""What a person has not read yet."""

from datetime import datetime
from uuid import UUID

from django.db.models import Count, F

from accounts.models import User
from companions.events import notify_unread_changed
from companions.models import Companion, Conversation, Message


def count_unread(user: User) -> dict[UUID, int]:
    """Count the unread messages of each companion, those without any left out; one query."""
    said = Message.objects.owned_by(user).filter(role=Message.Role.ASSISTANT, job=None)
    unread = said.filter(said_at__gt=F("conversation__read_until"))
    return dict(unread.values_list("companion").annotate(Count("pk")))


def mark_read(companion: Companion, until: datetime) -> bool:
    """Mark all that was said until then as read; return whether anything was not. Nothing is ever unread again."""
    unread = Conversation.objects.filter(companion=companion, read_until__lt=until)
    is_new = bool(unread.update(read_until=until))
    if is_new:
        notify_unread_changed(companion.user_id)
    return is_new
