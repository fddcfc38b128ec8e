"""Create a companion with its portrait, conversation, first session, inner state, timers and greeting, if any."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

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
from companions.life import first_state
from companions.life.timers.timers import PREDEFINED, add_predefined
from companions.lore.editing import make_book
from companions.models import Companion, Conversation, Life, Message, Session
from database.journal import everywhere

companion_made = Signal()
"""Sent in the transaction that creates a companion, from Companion, with `companion` and its voice's `pace` or None."""


@transaction.atomic
def create(
    user: User,
    *,
    name: str,
    now: datetime,
    first_greeting: int = 0,
    suggestions: Sequence[str] = (),
    face: int | None = None,
    pace: float | None = None,
    **fields: Any,
) -> Companion:
    """Create and return a companion that is ready to talk; raise LimitError if the user has too many already.

    `first_greeting` is the index of the greeting that the conversation begins with, unless that is blank. `face` is the
    seed of the portrait, derived from the id by default; `pace` is the speed of the voice. `fields` are further ones of
    Companion.
    """
    User.objects.select_for_update(no_key=True).get(pk=user.pk)
    if Companion.objects.owned_by(user).count() >= settings.COMPANIONS_EACH:
        detail = _("You already have %(count)s companions, which is the most you can have. Delete one first.")
        raise LimitError("too_many_companions", detail % {"count": settings.COMPANIONS_EACH})
    companion = Companion.objects.create(user=user, name=name, suggestions=list(suggestions), **fields)
    if face is not None:
        choose_features(companion, face, {})
    begun_with = companion.greetings[first_greeting]
    conversation = Conversation.objects.create(
        companion=companion, read_until=now, greeting=first_greeting if begun_with.strip() else None
    )
    Life.objects.create(companion=companion)
    session = Session.objects.create(companion=companion, conversation=conversation, started_at=now)
    with everywhere():
        first_state.begin(companion, now)
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
    """Create and return a companion from `character`, with its lorebook if it has one.

    Raise LimitError if the user has too many companions already.
    """
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
    """Return a persona composed of a form's answers, labelled in the active language; empty answers are left out."""
    parts = [
        role and _("Relationship: %(role)s") % {"role": role},
        manner and _("Way of talking: %(manner)s") % {"manner": manner},
        interests and _("Cares about: %(interests)s") % {"interests": interests},
        more,
    ]
    return "\n\n".join(filter(None, parts))
