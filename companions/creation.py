"""A new companion: with its conversation, its first session, its timers and, where it has one, its greeting."""

from datetime import datetime
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import User
from companions.conversations.messages import open_session, say
from companions.errors import LimitError
from companions.life import inner_state
from companions.life.timers import set_predefined
from companions.models import Companion, Conversation, Life, Message


@transaction.atomic
def create(
    user: User,
    *,
    name: str,
    persona: str,
    greeting: str,
    tint: int,
    now: datetime,
    example_dialogue: str = "",
    without_directions: bool = False,
    id: UUID | None = None,
) -> Companion:
    """The companion, ready to be talked to; LimitError where the person has as many as can be."""
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if Companion.objects.owned_by(user).count() >= settings.COMPANIONS_EACH:
        detail = _("You have %(count)s companions; there cannot be more. Delete one first.")
        raise LimitError("too_many_companions", detail % {"count": settings.COMPANIONS_EACH})
    companion = Companion.objects.create(
        id=id or uuid4(),
        user=user,
        name=name,
        persona=persona,
        greeting=greeting,
        example_dialogue=example_dialogue,
        without_directions=without_directions,
        tint=tint,
    )
    conversation = Conversation.objects.create(companion=companion, read_until=now)
    Life.objects.create(companion=companion)
    inner_state.seed(companion, now)
    set_predefined(companion, now)
    session = open_session(conversation, now)
    if greeting.strip():
        conversation.head = say(
            Message(
                companion=companion,
                conversation=conversation,
                session=session,
                role=Message.Role.ASSISTANT,
                author=name,
                text=companion.expand(greeting, nameless=_("you")),
                said_at=now,
            ),
            now,
        )
        conversation.save(update_fields=["head"])
    return companion
