"""What the person who asks owns of a companion's voice; what another owns is the same 404 as what does not exist."""

from uuid import UUID

from accounts.models import User
from companions.access import get_owned
from companions.models import Message, Reply
from voice.models import Recording
from voice.speech.spoken_text import Source


def get_recording(user: User, companion_id: UUID, recording_id: UUID) -> Recording:
    related = ("companion__user", "companion__conversation", "file", "message__companion")
    return get_owned(user, Recording, *related, companion=companion_id, pk=recording_id)


def get_spoken_reply(user: User, companion_id: UUID, reply_id: UUID) -> Reply:
    return get_owned(user, Reply, "companion__user", "answer", companion=companion_id, pk=reply_id)


def get_spoken_message(user: User, companion_id: UUID, message_id: UUID) -> Source:
    """Return what is spoken of a message: the reply that became it, else the message itself."""
    replies = Reply.objects.owned_by(user).filter(companion=companion_id, answer=message_id)
    if reply := replies.select_related("companion__user", "answer").first():
        return reply
    return get_owned(user, Message, "companion__user", "waking", companion=companion_id, pk=message_id)
