"""What a person has not read yet: what their companions said since they last looked."""

from datetime import datetime
from uuid import UUID

from django.db.models import Count, F

from accounts.models import User
from companions.life.telling import unread_changed
from companions.models import Companion, Conversation, Message


def unread(user: User) -> dict[UUID, int]:
    """How many messages of each companion are unread, those without any left out; one query."""
    said = Message.objects.owned_by(user).filter(role=Message.Role.ASSISTANT, job=None)
    fresh = said.filter(said_at__gt=F("conversation__read_until"))
    return dict(fresh.values_list("companion").annotate(Count("pk")))


def mark_read(companion: Companion, until: datetime) -> bool:
    """Whether anything became read by it: all that was said until then. Nothing is ever unread again."""
    mine = Conversation.objects.filter(companion=companion, read_until__lt=until)
    is_new = bool(mine.update(read_until=until))
    if is_new:
        unread_changed(companion.user_id)
    return is_new
