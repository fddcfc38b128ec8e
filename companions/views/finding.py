"""What the person who asks owns; another's thing is a 404."""

from uuid import UUID

from django.shortcuts import get_object_or_404

from accounts.signed_in import SignedInRequest
from companions.models import Companion, Message, Reply
from memory.models import Memory


def my_companion(request: SignedInRequest, companion_id: UUID) -> Companion:
    mine = Companion.objects.owned_by(request.user).select_related("user", "conversation", "portrait")
    return get_object_or_404(mine, pk=companion_id)


def my_message(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> Message:
    mine = Message.objects.owned_by(request.user).filter(companion=companion_id)
    return get_object_or_404(
        mine.select_related("companion__user", "companion__conversation", "companion__portrait", "parent"),
        pk=message_id,
    )


def my_reply(request: SignedInRequest, companion_id: UUID, reply_id: UUID) -> Reply:
    mine = Reply.objects.owned_by(request.user).filter(companion=companion_id)
    return get_object_or_404(mine.select_related("companion__user", "message"), pk=reply_id)


def my_memory(request: SignedInRequest, companion_id: UUID, memory_id: UUID) -> Memory:
    mine = Memory.objects.owned_by(request.user).of(companion_id)
    return get_object_or_404(mine.select_related("companion__user", "message", "retraction"), pk=memory_id)


def uuid_of(text: str) -> UUID:
    """The id in this text, or one that nothing has."""
    try:
        return UUID(text)
    except ValueError:
        return UUID(int=0)
