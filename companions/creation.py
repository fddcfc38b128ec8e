"""A new companion: with its face, conversation, first session, timers and, where it has one, its greeting."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.dispatch import Signal
from django.utils.translation import gettext as _

from accounts.models import User
from cards.lorebooks import normalise_book
from companions.characters import Character
from companions.conversations.messages import say
from companions.errors import LimitError
from companions.face.portraits import choose_features
from companions.life import inner_state
from companions.life.timers import PREDEFINED, add_predefined
from companions.lore.editing import make_book
from companions.models import Companion, Conversation, Life, Message, Session
from database.journal import everywhere

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
    first_greeting: int = 0,
    suggestions: Sequence[str] = (),
    face: int | None = None,
    pace: float | None = None,
    id: UUID | None = None,
    **texts: Any,
) -> Companion:
    """Return the companion, ready to be talked to; LimitError where the person has as many as can be.

    It begins with that one of its greetings, 0 for the first. `face` is the seed of its portrait, which else follows
    from its id; `pace` is that of its voice, which else is even. `texts` are further fields of a companion.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if Companion.objects.owned_by(user).count() >= settings.COMPANIONS_EACH:
        detail = _("You already have %(count)s companions, which is the most you can have. Delete one first.")
        raise LimitError("too_many_companions", detail % {"count": settings.COMPANIONS_EACH})
    companion = Companion.objects.create(
        id=id or uuid4(),
        user=user,
        name=name,
        persona=persona,
        greeting=greeting,
        suggestions=list(suggestions),
        tint=tint,
        **texts,
    )
    if face is not None:
        choose_features(companion, face, {})
    begun_with = companion.greetings[first_greeting]
    conversation = Conversation.objects.create(
        companion=companion, read_until=now, greeting=first_greeting if begun_with.strip() else None
    )
    Life.objects.create(companion=companion)
    session = Session.objects.create(companion=companion, conversation=conversation, started_at=now)
    with everywhere():
        inner_state.begin(companion, now)
        add_predefined(companion, PREDEFINED, now)
    if begun_with.strip():
        conversation.head = say(
            Message(
                companion=companion,
                conversation=conversation,
                session=session,
                role=Message.Role.ASSISTANT,
                author=name,
                text=companion.expand(
                    begun_with, nameless=_("you"), now=now.astimezone(user.zone), seed=companion.pk.int
                ),
                said_at=now,
            ),
            now,
        )
        conversation.save(update_fields=["head"])
    companion_made.send(Companion, companion=companion, pace=pace)
    return companion


@transaction.atomic
def begin_as(user: User, character: Character, greeting: str, now: datetime, *, name: str = "") -> Companion:
    """Return a new companion that is this character, with its lorebook where it has one. LimitError."""
    companion = create(
        user,
        name=name or character.name,
        persona=character.persona,
        greeting=greeting,
        example_dialogue=character.example_dialogue,
        suggestions=character.suggestions,
        tint=character.tint,
        face=character.face,
        pace=character.pace,
        now=now,
    )
    if character.lorebook:
        make_book(user, normalise_book(dict(character.lorebook)), now, companion=companion)
    return companion


def compose_persona(role: str, manner: str, interests: str, more: str) -> str:
    """Return the persona that these answers make, in the language of whoever gave them; what is empty is left out."""
    parts = [
        role and _("Relationship: %(role)s") % {"role": role},
        manner and _("Way of talking: %(manner)s") % {"manner": manner},
        interests and _("Cares about: %(interests)s") % {"interests": interests},
        more,
    ]
    return "\n\n".join(filter(None, parts))
