"""How much of a session goes into the prompt: under pressure its oldest messages stay out, and come back without it.

The steps are DigitalLife's; at or below 0.60 it recovers as BenjiMemoryPkg does. The summary tells what stays out.
"""

from collections.abc import Sequence
from typing import TypeVar

from django.conf import settings

from accounts.models import ModelCall
from companions.models import Message, Reply, Session

STEPS = ((0.95, 4), (0.90, 3), (0.85, 2), (0.80, 1), (0.75, 0), (0.70, -1), (0.65, -2), (0.60, -3))
RECOVERY = -4

One = TypeVar("One")


def step(pressure: float) -> int:
    """How many more messages stay out after a turn whose prompt took that share of the context."""
    return next((change for above, change in STEPS if pressure > above), RECOVERY)


def moved(unsent: int, pressure: float, messages: int) -> int:
    """How many of so many messages stay out from now on: none less than none, and never the newest."""
    return max(0, min(unsent + step(pressure), messages - 1))


def without_unsent(messages: Sequence[One], unsent: int) -> list[One]:
    """The messages, oldest first, without the oldest so many, but always with the newest."""
    return list(messages[min(unsent, max(len(messages) - 1, 0)) :])


def adjust(reply: Reply) -> None:
    """Move the window of the reply's session by the pressure of its last prompt: three queries, two where none came."""
    calls = ModelCall.objects.filter(reply=reply, purpose=ModelCall.Purpose.ANSWER, prompt_tokens__gt=0)
    tokens = calls.order_by("-pk").values_list("prompt_tokens", flat=True).first()
    if tokens is None:
        return
    session = Session.objects.get(pk=reply.message.session_id)
    pressure = tokens / settings.CONTEXT_TOKENS
    messages = (
        Message.objects.filter(session=session, is_hidden=False).count() if step(pressure) > 0 else None
    )
    unsent = moved(session.unsent, pressure, session.unsent + 1 if messages is None else messages)
    Session.objects.filter(pk=session.pk).update(unsent=unsent, pressure=pressure)
