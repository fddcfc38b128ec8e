"""What the person who asks owns; another's thing is a 404."""

from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404

from accounts.models import User
from companions.models import Message, Reply
from voice.models import Recording
from voice.speaking.following import Thing


def my_recording(user: User, companion_id: UUID, recording_id: UUID) -> Recording:
    mine = Recording.objects.owned_by(user).filter(companion=companion_id)
    joined = mine.select_related("companion__user", "companion__conversation", "file", "message__companion")
    return get_object_or_404(joined, pk=recording_id)


def my_said(user: User, companion_id: UUID, message_id: UUID) -> Thing:
    """What is spoken of a message: the reply that became it, else the message itself."""
    reply = _replies(user, companion_id).filter(answer=message_id).first()
    if reply:
        return reply
    mine = Message.objects.owned_by(user).filter(companion=companion_id)
    return get_object_or_404(mine.select_related("companion__user", "waking"), pk=message_id)


def my_reply(user: User, companion_id: UUID, reply_id: UUID) -> Reply:
    return get_object_or_404(_replies(user, companion_id), pk=reply_id)


def _replies(user: User, companion_id: UUID) -> QuerySet[Reply]:
    mine = Reply.objects.owned_by(user).filter(companion=companion_id)
    return mine.select_related("companion__user", "answer")
