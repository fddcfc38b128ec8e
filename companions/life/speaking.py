"""Saying something unprompted: once, in one transaction, where that is wanted."""

from datetime import datetime
from typing import Any

from django.conf import settings

from companions.life.awake import Awake
from companions.life.checking import Words, checked
from companions.life.consent import refusal
from companions.life.reaching import deliver
from companions.life.telling import tell_companion, tell_person, unread_changed
from companions.locking import hold
from companions.models import Companion, Conversation, Message, Reply, Waking
from companions.replies import frames
from companions.saying import open_session, say
from companions.sessions.trying import Step, nothing

Outcome = Waking.Outcome


def speak(awake: Awake, text: str, now: datetime, step: Step = nothing) -> Outcome | None:
    """What became of it; None where a reply is being made or waits: then nothing has changed, and it is said later.

    Where it is held back, the text stays on the waking, with the reason. WakingOverError where another has taken over.
    """
    if _is_answering(awake.companion):
        return None
    code = refusal(awake.companion, awake.waking, now) or ""
    words = Words(text, code) if code else checked(awake, text)  # that may ask a model: no lock is held
    step("checked")
    with awake.held():
        companion = hold(awake.companion.pk)
        assert companion is not None  # noqa: S101 (its waking is there)
        if _is_answering(companion):
            return None
        step("speaking")
        code = (
            refusal(companion, awake.waking, now) or words.code
        )  # as it stands now: it may have been muted meanwhile
        if not code:
            emotions = awake.waking.emotions if words.text == text else []
            _tell(companion, _said(companion, awake.waking, words.text, now), emotions, now)
        outcome = Outcome.HELD if code else Outcome.SPOKE
        ended = {"state": Waking.State.DONE, "outcome": outcome, "reason": code, "ended_at": now}
        awake.lease.give_back(None, text=words.text if code else "", **ended)  # else the message says it
        step("said")
    return outcome


def _is_answering(companion: Companion) -> bool:
    return Reply.objects.filter(companion=companion, state__in=Reply.OPEN).exists()


def _said(companion: Companion, waking: Waking, text: str, now: datetime) -> Message:
    """The message, at the end of the talk."""
    conversation = companion.conversation
    message = Message(
        companion=companion,
        conversation=conversation,
        session=open_session(conversation, now),
        parent_id=conversation.head_id,
        role=Message.Role.ASSISTANT,
        author=companion.name,
        text=text,
        said_at=now,
        waking=waking,
        is_rehearsed=settings.CHAT["is_rehearsal"],
    )
    say(message, now)
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    return message


def _tell(companion: Companion, message: Message, emotions: list[dict[str, Any]], now: datetime) -> None:
    """Whoever listens hears of it after the commit; whoever does not may be reached elsewhere."""
    deliver(message, now)
    told = frames.message(message)
    who = {"id": str(companion.pk), "name": companion.name}
    tell_companion(companion.pk, {"type": "message.said", "message": told, "emotions": emotions})
    shown = {name: told[name] for name in ("id", "text", "said_at")}
    tell_person(companion.user_id, {"type": "outreach", "companion": who, "message": shown})
    unread_changed(companion.user_id)
