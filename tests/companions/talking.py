"""Talk with its own times, said without a model."""

from datetime import datetime, timedelta

from django.db import transaction

from companions.conversations.messages import open_session, say_all
from companions.models import Companion, Conversation, Message


def say(companion: Companion, *texts: str, at: datetime) -> list[Message]:
    """The texts, said in turn in the open session, the user first, a minute apart from `at` on."""
    conversation = Conversation.objects.get(companion=companion)
    session, parent, messages = open_session(conversation, at), conversation.head_id, []
    for number, text in enumerate(texts):
        message = Message(
            companion=companion,
            conversation=conversation,
            session=session,
            parent_id=parent,
            role=("user", "assistant")[number % 2],
            author=(companion.user.name, companion.name)[number % 2],
            text=text,
            said_at=at + timedelta(minutes=number),
        )
        parent = message.pk
        messages.append(message)
    with transaction.atomic():
        say_all(companion, messages, at)
        Conversation.objects.filter(pk=conversation.pk).update(head=parent)
    return messages
