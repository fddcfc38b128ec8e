"""The end of a reply: its text becomes a message, in one transaction with its memory and its state."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, TypeVar
from uuid import UUID

import orjson
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Q
from django.utils import translation

from accounts.models import ModelCall
from companions.access import hold
from companions.conversations.messages import open_session, say
from companions.events import notify_person, notify_unread_changed
from companions.life.inner_state import Feeling, fade, sway
from companions.models import Companion, Conversation, InnerState, Message, Reply, Session
from companions.models.conversation import DIGEST_MESSAGES, REFLECTION_MESSAGES
from companions.replies.broadcast import Place, seal_stream, take_unbroken
from jobs.background import enqueue
from memory.emotion import CALM, HALF_DAYS, reinforce
from memory.models import Memory, Recalled
from memory.store import correct
from safety import notices

MOOD_WINDOW = timedelta(days=1)  # of what is older the mood keeps a share of 1/256
# How much of a session goes into the prompt: under pressure (above a share of the context) so many more of its oldest
# messages stay out, and come back without it. The steps are DigitalLife's; at or below 0.60 it recovers as BenjiMemoryPkg
# does. The summary tells what stays out.
WINDOW_STEPS = ((0.95, 4), (0.90, 3), (0.85, 2), (0.80, 1), (0.75, 0), (0.70, -1), (0.65, -2), (0.60, -3))
WINDOW_RECOVERY = -4
T = TypeVar("T")
STRENGTHENING = (Reply.State.DONE, Reply.State.STOPPED, Reply.State.INTERRUPTED)
# All replies of a process at once: one by one, two hundred keep its streams waiting for a third of a second. Texts go as
# they are (%b): to quote them took as long again.
CHECKPOINT = """
UPDATE companions_reply reply
SET lease_at = %(now)s, text = said.text, thought = said.thought, seq = said.seq,
    tool_calls = said.calls::jsonb, emotions = said.felt::jsonb,
    state = CASE said.text WHEN '' THEN reply.state ELSE 'streaming' END
FROM unnest(%(ids)b::uuid[], %(texts)b::text[], %(thoughts)b::text[], %(seqs)b::int[], %(calls)b::text[],
            %(felt)b::text[])
  AS said (id, text, thought, seq, calls, felt)
WHERE reply.id = said.id AND reply.lease_by = %(process)s AND reply.state IN ('thinking', 'streaming')
RETURNING reply.id
"""
# A long session has thousands of them, and every turn waits for this; the formula is memory.emotion's.
SESSION_MOOD = """
SELECT coalesce(sum(weight * (joy - aversion)), 0) / (%(calm)s + coalesce(sum(weight) FILTER (WHERE joy IS NOT NULL), 0))
FROM companions_message message
JOIN companions_reply reply ON reply.message_id = message.id
JOIN memory_recall recall ON recall.reply_id = reply.id
JOIN memory_recalled found ON found.recall_id = recall.id
LEFT JOIN memory_memory memory ON memory.id = found.memory_id AND found.is_used AND recall.at > %(since)s
CROSS JOIN LATERAL (
    SELECT CASE WHEN recall.at > %(since)s  -- of what is much older no floating-point number is left, but an error
                THEN power(2, -greatest(extract(epoch FROM %(now)s - recall.at), 0)::float8 / %(half_seconds)s)
                ELSE 0 END AS weight
) fading
WHERE message.session_id = %(session)s AND message.id IS DISTINCT FROM %(but)s
"""


@dataclass(slots=True)
class Said:
    """What a reply holds so far."""

    text: str = ""
    thought: str = ""
    seq: int = 0
    tool_calls: list[dict[str, object]] = field(default_factory=list)
    emotions: list[dict[str, object]] = field(default_factory=list)
    code: str = ""


def seal_and_read(reply: Reply) -> Said:
    """Return the text on the row, and what its stream holds beyond that; whoever makes the reply adds nothing more."""
    said = Said(reply.text, reply.thought, reply.seq, reply.tool_calls, reply.emotions)
    for entry in take_unbroken(seal_stream(reply.pk, Place(reply.seq)), reply.seq):
        frame = orjson.loads(entry.json)
        if frame["type"] == "reply.piece":
            said.text += frame["text"]
        elif frame["type"] == "reply.thought":
            said.thought += frame["text"]
        elif frame["type"] == "reply.emotion":
            felt = {name: frame[name] for name in ("at", "emotion", "intensity")}
            said.emotions += [] if felt in said.emotions else [felt]
        said.seq = max(said.seq, entry.seq)
    return said


def save_progress(saying: Mapping[UUID, Said], now: datetime, *, held_by: str) -> set[UUID]:
    """Renew the leases and save what was said so far; return those that no other process has taken over."""
    replies = saying.values()
    parameters: dict[str, Any] = {
        "process": held_by,
        "now": now,
        "ids": list(saying),
        "seqs": [said.seq for said in replies],
        "texts": [said.text for said in replies],
        "thoughts": [said.thought for said in replies],
        "calls": [orjson.dumps(said.tool_calls).decode() for said in replies],
        "felt": [orjson.dumps(said.emotions).decode() for said in replies],
    }
    with connection.cursor() as cursor:
        cursor.execute(CHECKPOINT, parameters)
        return {id for (id,) in cursor.fetchall()}


@transaction.atomic
def finish(reply: Reply, state: Reply.State, said: Said, now: datetime, *, held_by: str) -> Reply | None:
    """End the reply and return it; None where it is held by another process, is ended already, or is gone."""
    companion = hold(reply.companion_id)
    held = Reply.objects.filter(pk=reply.pk, state__in=Reply.OPEN, lease_by=held_by)
    ended = held.select_related("message", "continues__answer").first() if companion else None
    if companion is None or ended is None:
        return None
    if said.text.strip():
        ended.answer = _save_answer(companion, ended, said.text, now)
    ended.state, ended.text, ended.thought, ended.seq = state, said.text, said.thought, said.seq
    ended.tool_calls, ended.emotions = said.tool_calls, said.emotions
    ended.code, ended.ended_at = said.code, now
    # a short one ends before it is marked
    ended.first_piece_at = ended.first_piece_at or reply.first_piece_at
    ended.save()
    strengthen_shown(ended, now)
    adjust_window(ended)
    _enqueue_due_work(ended)
    _note_continuous_use(ended, companion, now)
    notify_unread_changed(companion.user_id)
    return ended


def _save_answer(companion: Companion, reply: Reply, text: str, now: datetime) -> Message:
    """Return the message that the reply became: the one it goes on from, or a new one after what it answers."""
    if reply.continues and (answer := reply.continues.answer):
        Reply.objects.filter(pk=reply.continues.pk).update(answer=None)
        reply.continues.answer = None
        answer.text = text
        answer.save(update_fields=["text"])
        correct(answer.memory, text, now)
        return answer
    earlier = list(Message.objects.filter(parent=reply.message, role=Message.Role.ASSISTANT, waking=None))
    answer = say(
        Message(
            companion=companion,
            conversation=companion.conversation,
            session=open_session(companion.conversation, now),
            parent=reply.message,
            role=Message.Role.ASSISTANT,
            author=companion.name,
            text=text,
            said_at=now,
            is_rehearsed=settings.CHAT["is_rehearsal"],
        ),
        now,
    )
    # What was said meanwhile follows the answer; the path ends with it where nothing was, or where it replaces another.
    meanwhile = Q(role=Message.Role.USER) | Q(waking__isnull=False)
    Message.objects.filter(meanwhile, parent=reply.message).update(parent=answer)
    path = Conversation.objects.filter(pk=companion.conversation.pk)
    (path if earlier else path.filter(head=reply.message)).update(head=answer)
    replaced = Memory.objects.filter(message__in=earlier, closed_at=None)
    replaced.update(closed_at=now, replaced_by=answer.memory)
    return answer


def _enqueue_due_work(reply: Reply) -> None:
    """Ask for learning from what was said and for reflecting upon it, where enough waits; either task looks itself."""
    said = Message.objects.filter(session=reply.message.session_id, is_hidden=False)
    if not reply.answer_id:
        return
    if said.filter(is_learnt=False)[:DIGEST_MESSAGES].count() >= DIGEST_MESSAGES:
        enqueue("companions.sessions.tasks.digest_session", str(reply.message.session_id))
    states = InnerState.objects.filter(companion=reply.companion_id).order_by("-number")
    if until_at := states.values_list("until_at", flat=True).first():
        said = said.filter(said_at__gt=until_at)
    if said[:REFLECTION_MESSAGES].count() >= REFLECTION_MESSAGES:
        enqueue("companions.life.tasks.reflect_upon", str(reply.companion_id))


def _note_continuous_use(ended: Reply, companion: Companion, now: datetime) -> None:
    """Count the time that the two are together, whatever the channel; what the person must be told goes to their
    pages.
    """
    said_at = ended.message.said_at
    is_told = ended.state in (Reply.State.DONE, Reply.State.STOPPED)
    due = notices.record_use(companion.user, said_at, now if is_told else said_at)
    with translation.override(companion.user.language or "en"):
        for notice in due:
            notify_person(companion.user_id, notices.as_frame(notice))


def load_session_mood(session_id: UUID, now: datetime, but: UUID | None = None) -> float:
    """Return the mood (-1 to 1) that what came to mind in this session, but for that message, makes on top of the valence
    of the inner state.
    """
    parameters = {"session": session_id, "but": but, "now": now, "since": now - MOOD_WINDOW, "calm": CALM}
    parameters["half_seconds"] = timedelta(days=HALF_DAYS).total_seconds()
    with connection.cursor() as cursor:
        cursor.execute(SESSION_MOOD, parameters)
        [mood] = cursor.fetchone()
    states = InnerState.objects.filter(companion__sessions=session_id).order_by("-number")
    felt = states.values_list("valence", "made_at").first()
    return sway(mood, fade(Feeling(felt[0]), felt[1], now).valence if felt else 0.0)


def strengthen_shown(reply: Reply, now: datetime) -> None:
    """Strengthen what the ended reply was shown, if it said anything, each memory once in a session."""
    before = reply.continues.text if reply.continues else ""
    if reply.state not in STRENGTHENING or reply.text.strip() == before.strip():
        return
    mine = Recalled.objects.of(reply.companion_id)
    shown = mine.filter(recall__reply=reply).values("memory")
    session_id = reply.message.session_id
    used = mine.filter(is_used=True, memory__in=shown, recall__reply__message__session=session_id)
    used_before = used.exclude(recall__reply__message=reply.message_id).values_list("memory", flat=True)
    mood = load_session_mood(session_id, now)
    reinforce(reply.pk, mood, now, _find_earlier_parts(reply), list(used_before))


def _find_earlier_parts(reply: Reply) -> list[UUID]:
    """Return the reply that it takes up, the one that this takes up, and so on; another branch's are not among them."""
    if reply.continues_id is None:
        return []
    replies = Reply.objects.filter(message=reply.message_id)
    continues = dict(replies.values_list("pk", "continues"))
    found: list[UUID] = [reply.continues_id]
    while earlier := continues.get(found[-1]):
        found.append(earlier)
    return found


# -- the window of a session -----------------------------------------------------------------------------------------


def change_window(pressure: float) -> int:
    """Return how many more messages stay out after a turn whose prompt took that share of the context."""
    return next((change for above, change in WINDOW_STEPS if pressure > above), WINDOW_RECOVERY)


def move_window(unsent: int, pressure: float, messages: int) -> int:
    """Return how many of so many messages stay out from now on: none less than none, and never the newest."""
    return max(0, min(unsent + change_window(pressure), messages - 1))


def without_unsent(messages: Sequence[T], unsent: int) -> Sequence[T]:
    """Return the messages, oldest first, without the oldest so many, but always with the newest."""
    return messages[min(unsent, max(len(messages) - 1, 0)) :]


def adjust_window(reply: Reply) -> None:
    """Move the window of the reply's session by the pressure of its last prompt."""
    calls = ModelCall.objects.filter(reply=reply, purpose=ModelCall.Purpose.ANSWER, prompt_tokens__gt=0)
    tokens = calls.order_by("-pk").values_list("prompt_tokens", flat=True).first()
    if tokens is None:
        return
    session = Session.objects.get(pk=reply.message.session_id)
    pressure = tokens / settings.CONTEXT_TOKENS
    messages = Message.objects.filter(session=session, is_hidden=False).count()
    unsent = move_window(session.unsent, pressure, messages)
    Session.objects.filter(pk=session.pk).update(unsent=unsent, pressure=pressure)
