"""What the person who asks owns; another's thing is a 404."""

from uuid import UUID

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from accounts.models import User
from companions.models import Companion, Reply
from memory.models import Memory


def person(request: HttpRequest) -> User:
    """The person whose token came with the request."""
    user: User = request.auth  # type: ignore[attr-defined]
    return user


def my_companion(request: HttpRequest, companion_id: UUID) -> Companion:
    mine = Companion.objects.owned_by(person(request)).select_related("user", "conversation", "portrait")
    return get_object_or_404(mine, pk=companion_id)


def my_memory(request: HttpRequest, companion_id: UUID, memory_id: UUID) -> Memory:
    mine = Memory.objects.owned_by(person(request)).of(companion_id).select_related("message")
    return get_object_or_404(mine, pk=memory_id)


def my_reply(request: HttpRequest, reply_id: UUID) -> Reply:
    mine = Reply.objects.owned_by(person(request)).select_related("companion__user", "message")
    return get_object_or_404(mine, pk=reply_id)
