"""The end of a reply: its text becomes a message, in one transaction with its memory and its state."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import transaction
from django.db.models import Q

from companions.life import reflection
from companions.locking import hold
from companions.models import Companion, Conversation, Message, Reply
from companions.replies import after, stream
from companions.replies.stream import Place
from companions.replies.using import use_shown
from companions.saying import open_session, say
from companions.sessions import digests, window
from memory.keeping import correct
from memory.models import Memory
from memory.reading import read

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


@dataclass(slots=True)
class Said:
    """What a reply holds so far."""

    text: str = ""
    thought: str = ""
    seq: int = 0
    tool_calls: list[dict[str, object]] = field(default_factory=list)
    emotions: list[dict[str, object]] = field(default_factory=list)
    code: str = ""


def said_so_far(reply: Reply) -> Said:
    """The text on the row, and what its stream holds beyond that; whoever makes the reply adds nothing more."""
    said = Said(reply.text, reply.thought, reply.seq, reply.tool_calls, reply.emotions)
    for entry in stream.unbroken(stream.seal(reply.pk, Place(reply.seq)), reply.seq):
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


@transaction.atomic
def finish(reply: Reply, state: Reply.State, said: Said, now: datetime, *, held_by: str) -> Reply | None:
    """The ended reply; None where it is held by another process, is ended already, or is gone."""
    companion = hold(reply.companion_id)
    held = Reply.objects.filter(pk=reply.pk, state__in=Reply.OPEN, lease_by=held_by)
    ended = held.select_related("message", "continues__answer").first() if companion else None
    if companion is None or ended is None:
        return None
    if said.text.strip():
        ended.answer = _answer(companion, ended, said.text, now)
    ended.state, ended.text, ended.thought, ended.seq = state, said.text, said.thought, said.seq
    ended.tool_calls, ended.emotions = said.tool_calls, said.emotions
    ended.code, ended.ended_at = said.code, now
    ended.first_piece_at = (
        ended.first_piece_at or reply.first_piece_at
    )  # a short one ends before it is marked
    ended.save()
    use_shown(ended, now)
    window.adjust(ended)
    digests.nudge(ended)
    reflection.nudge(ended, now)
    after.tell(ended, companion, now)
    return ended


def _answer(companion: Companion, reply: Reply, text: str, now: datetime) -> Message:
    """The message that the reply became: the one it goes on from, or a new one after what it answers."""
    if reply.continues and reply.continues.answer:
        return _grown(reply.continues, text, now)
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
    _take_place(companion.conversation, reply.message, earlier, answer)
    Memory.objects.filter(message__in=earlier, closed_at=None).update(
        closed_at=now, replaced_by=answer.memory
    )
    return answer


def _grown(earlier: Reply, text: str, now: datetime) -> Message:
    answer = earlier.answer
    assert answer is not None  # noqa: S101 (the caller looked)
    earlier.answer = None
    earlier.save(update_fields=["answer"])
    answer.text = text
    answer.save(update_fields=["text"])
    correct(answer.memory, text, now)
    return answer


def _take_place(
    conversation: Conversation, message: Message, earlier: list[Message], answer: Message
) -> None:
    """Put the answer into the path: what was said meanwhile follows it; a first message without answer leads to it."""
    meanwhile = Q(role=Message.Role.USER) | Q(waking__isnull=False)
    Message.objects.filter(meanwhile, parent=message).update(parent=answer)
    ends = [message.pk, *(one.pk for one in earlier)]
    Conversation.objects.filter(pk=conversation.pk, head__in=ends).update(head=answer)
    if earlier and not Conversation.objects.filter(pk=conversation.pk, head=answer).exists():
        Conversation.objects.filter(pk=conversation.pk).update(head=answer)


def checkpoint(saying: Mapping[UUID, Said], now: datetime, *, held_by: str) -> set[UUID]:
    """Renew the leases and save what was said so far; those that no other process has taken over."""
    said = saying.values()
    named: dict[str, Any] = {
        "process": held_by,
        "now": now,
        "ids": list(saying),
        "seqs": [one.seq for one in said],
    }
    named |= {"texts": [one.text for one in said], "thoughts": [one.thought for one in said]}
    named |= {"calls": [orjson.dumps(one.tool_calls).decode() for one in said]}
    named |= {"felt": [orjson.dumps(one.emotions).decode() for one in said]}
    return {id for (id,) in read(CHECKPOINT, named)}
