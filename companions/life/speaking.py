"""Saying something unprompted: once, in one transaction, where that is wanted."""

import contextlib
from datetime import datetime
from functools import partial
from uuid import UUID

from asgiref.sync import async_to_sync
from django.conf import settings
from django.db import transaction

from companions.life.awake import Awake
from companions.life.consent import refusal
from companions.locking import hold
from companions.models import Conversation, Message, Reply, Waking
from companions.replies import frames
from companions.replies.layer import AWAY
from companions.replies.publish import tell
from companions.replies.stream import Frame
from companions.saying import open_session, say
from companions.sessions.trying import Step, nothing

Outcome = Waking.Outcome


def speak(awake: Awake, text: str, now: datetime, step: Step = nothing) -> Outcome | None:
    """What became of it; None where a reply is being made or waits: then nothing has changed, and it is said later.

    Where it is held back, the text stays on the waking, with the reason. WakingOverError where another has taken over.
    """
    with awake.held():
        if Reply.objects.filter(companion=awake.companion, state__in=Reply.OPEN).exists():
            return None
        step("speaking")
        code = refusal(awake.companion, awake.waking, now)
        if code is None:
            _say(awake, text, now)
        outcome = Outcome.HELD if code else Outcome.SPOKE
        ended = {"state": Waking.State.DONE, "outcome": outcome, "reason": code or "", "ended_at": now}
        awake.lease.give_back(None, text=text, **ended)
        step("said")
    return outcome


def _say(awake: Awake, text: str, now: datetime) -> None:
    """The message, at the end of the talk; whoever listens is told after the commit."""
    companion = hold(awake.companion.pk)
    assert companion is not None  # noqa: S101 (it is held)
    conversation = companion.conversation
    message = say(
        Message(
            companion=companion,
            conversation=conversation,
            session=open_session(conversation, now),
            parent_id=conversation.head_id,
            role=Message.Role.ASSISTANT,
            author=companion.name,
            text=text,
            said_at=now,
            waking=awake.waking,
            is_rehearsed=settings.CHAT["is_rehearsal"],
        ),
        now,
    )
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    frame: Frame = {"type": "message.said", "message": frames.message(message)}
    transaction.on_commit(partial(_tell, companion.pk, frame), robust=True)


def _tell(companion_id: UUID, frame: Frame) -> None:
    """While Redis is away nobody is told; the talk shows it when it is looked at next."""
    with contextlib.suppress(*AWAY):
        async_to_sync(tell)(companion_id, frame)
