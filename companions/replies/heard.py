"""What was heard of a reply that its person broke off: that is what was said, whatever had been written by then."""

import contextlib
from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import Any

from channels.exceptions import ChannelFull
from django.db import transaction

from companions.correcting import reword
from companions.deletion.messages import drop
from companions.locking import hold
from companions.models import Companion, Message, Reply
from companions.replies import frames, stream
from companions.replies.actions import STOPS
from companions.replies.finish import finish, said_so_far
from companions.replies.layer import AWAY, layer
from companions.replies.publish import tell
from companions.replies.words_heard import words_heard
from database.threads import in_thread

State = Reply.State


Keep = Callable[[Reply, int, datetime], Reply | None]


async def break_off(reply: Reply, until: int, now: datetime, *, keep: Keep) -> Reply | None:
    """`keep_heard`, or what does more; whoever makes the reply stops at once, and everyone who listens is told."""
    kept = await in_thread(keep, reply, until, now)
    with contextlib.suppress(*AWAY, ChannelFull):
        await layer().group_send(STOPS, {"type": "reply.stop", "id": str(reply.pk)})
    if kept:
        await tell(reply.companion_id, frame(kept))
    return kept


def frame(kept: Reply) -> dict[str, Any]:
    """What is left of the reply, and of the answer that it became."""
    left = frames.message(kept.answer) if kept.answer else None
    ids = {"id": str(kept.pk), "message_id": str(kept.message_id)}
    return {"type": "reply.heard", **ids, "text": kept.text, "message": left}


@transaction.atomic
def keep_heard(reply: Reply, until: int, now: datetime) -> Reply | None:
    """The reply, `stopped`, with its words up to that place of its text, whole words only; None where it is gone.

    An open one ends, whichever process makes it. Of one that has ended already, the answer and its memory are cut, what
    was drawn from the rest goes with it, and the answer goes where nothing of it was heard. What it went on from stays.
    """
    companion = hold(reply.companion_id)
    mine = Reply.objects.filter(pk=reply.pk, companion=companion)
    found = mine.select_related("message", "continues", "answer__session").first() if companion else None
    if companion is None or found is None:
        return None
    until = max(until, len(found.continues.text) if found.continues else 0)
    if found.is_open:
        return _ended(found, until, now)
    if found.answer and words_heard(found.text, until) != found.text:
        _cut(companion, found, found.answer, words_heard(found.text, until), now)
    return found


def _ended(reply: Reply, until: int, now: datetime) -> Reply | None:
    """End it here: whoever makes it finds that done, and can add nothing to its stream."""
    said = said_so_far(reply)
    said.text = words_heard(said.text, until)
    ended = finish(reply, State.STOPPED, said, now, held_by=reply.lease_by)
    if ended:
        _trim(ended)
    return ended


def _cut(companion: Companion, reply: Reply, answer: Message, text: str, now: datetime) -> None:
    if text:
        reword(companion, answer, text, now)
    else:
        drop(companion, [answer], (), now)
        reply.answer = None
    reply.state, reply.text = State.STOPPED, text
    reply.save(update_fields=["state", "text"])
    _trim(reply)


def _trim(reply: Reply) -> None:
    """Nothing that was felt further on is left, nor any piece in Redis."""
    felt = [one for one in reply.emotions if one["at"] < len(reply.text)]
    Reply.objects.filter(pk=reply.pk).update(emotions=felt)
    transaction.on_commit(partial(stream.wipe, [reply.pk]), robust=True)
