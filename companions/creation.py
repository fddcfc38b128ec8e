"""A new companion: with its face, conversation, first session, timers and, where it has one, its greeting."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.dispatch import Signal
from django.utils.translation import gettext as _

from accounts.models import User
from companions.characters import Character
from companions.conversations.messages import open_session, say
from companions.errors import LimitError
from companions.face.portraits import choose_features
from companions.life import inner_state
from companions.life.timers import set_predefined
from companions.models import Companion, Conversation, Life, Message

companion_made = Signal()
"""Sent with `companion` and the `pace` of its voice, or None, in the transaction that makes it; by Companion."""


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
    suggestions: Sequence[str] = (),
    face: int | None = None,
    pace: float | None = None,
    id: UUID | None = None,
) -> Companion:
    """Return the companion, ready to be talked to; LimitError where the person has as many as can be.

    `face` is the seed of its portrait, which else follows from its id; `pace` is that of its voice, which else is even.
    """
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
        suggestions=list(suggestions),
        tint=tint,
    )
    if face is not None:
        choose_features(companion, face, {})
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
    companion_made.send(Companion, companion=companion, pace=pace)
    return companion


def begin_as(user: User, character: Character, chance: float, now: datetime) -> Companion:
    """Return a new companion that is this character; the chance, from 0 to below 1, chooses its greeting. LimitError."""
    return create(
        user,
        name=character.name,
        persona=character.persona,
        greeting=character.choose_greeting(chance),
        example_dialogue=character.example_dialogue,
        suggestions=character.suggestions,
        tint=character.tint,
        face=character.face,
        pace=character.pace,
        now=now,
    )


def compose_persona(role: str, manner: str, interests: str, more: str) -> str:
    """Return the persona that these answers make, in the language of whoever gave them; what is empty is left out."""
    parts = [
        role and _("Relationship: %(role)s") % {"role": role},
        manner and _("Way of talking: %(manner)s") % {"manner": manner},
        interests and _("Cares about: %(interests)s") % {"interests": interests},
        more,
    ]
    return "\n\n".join(filter(None, parts))
