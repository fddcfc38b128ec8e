"""What a person may do with a reply: stop it, break it off where they heard it, have it made again, have it go on."""

import contextlib
import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from companions.branches.switching import check_no_answer, go_back, part
from companions.conversations.editing import reword
from companions.deletion.deletion import remove
from companions.errors import ReplyStateError
from companions.events import REDIS_UNAVAILABLE, publish, render_heard, tell_companion
from companions.models import Companion, Message, Reply
from companions.models.companion import hold
from companions.replies.broadcast import wipe_streams
from companions.replies.lifecycle import admit_message, finish, queue_reply, seal_and_read
from database.journal import erasing
from jobs.background import in_thread

STOPS = "replies.stop"


async def stop(reply: Reply) -> None:
    """Ask for the reply's end: a flag on the row, and word to the process that makes it."""
    row = Reply.objects.filter(pk=reply.pk, state__in=Reply.OPEN)
    if not await in_thread(row.update, is_stop_asked=True):
        raise ReplyStateError("reply_ended", _("This reply has already ended."))
    await tell_to_stop(reply)


async def tell_to_stop(reply: Reply) -> None:
    """Tell the process that makes the reply to stop; where Redis is away it reads the flag at its next heartbeat."""
    with contextlib.suppress(*REDIS_UNAVAILABLE):
        await publish((STOPS, {"id": str(reply.pk)}))


@transaction.atomic
def retry(reply: Reply, now: datetime) -> Reply:
    """Queue a new reply to the same message; the earlier one stays as another branch. ReplyStateError, GateError."""
    companion = _hold_ended(reply, now)
    answers = Q(parent=reply.message_id, role=Message.Role.ASSISTANT, waking=None)
    asleep = Q(pk=reply.message_id, is_asleep=True)
    if Message.everywhere.filter(answers | asleep).exists():
        check_no_answer(companion)
        part(companion, reply.message_id, now)
    return queue_reply(companion, reply.message, now)


@transaction.atomic
def go_on(reply: Reply, now: datetime) -> Reply:
    """Queue a new reply that takes up a stopped or interrupted one where it ended; each can be taken up once.

    Raises ReplyStateError, GateError.
    """
    companion = _hold_ended(reply, now)
    if reply.state == Reply.State.DONE:
        raise ReplyStateError("reply_complete", _("This reply is complete."))
    # One that goes on from it, or from such a one, may be the answer now: a second one would repeat it.
    before = [reply.pk]
    while before:
        later = list(Reply.objects.filter(continues__in=before).values_list("pk", "answer"))
        if any(answer for _pk, answer in later):
            raise ReplyStateError("reply_taken_up", _("Another reply already continues this one."))
        before = [pk for pk, _answer in later]
    asleep = Message.everywhere.filter(made_by=reply, is_asleep=True)
    if answer := asleep.first():
        check_no_answer(companion)
        go_back(companion, answer, now)
    return queue_reply(companion, reply.message, now, continues=reply)


def _hold_ended(reply: Reply, now: datetime) -> Companion:
    """Lock the companion; ReplyStateError while a reply to the message is open, GateError."""
    companion = hold(reply.companion_id)
    if companion is None or not Reply.objects.filter(pk=reply.pk).exists():
        raise ReplyStateError("no_such_reply", _("There is no such reply."))
    if Reply.objects.filter(message=reply.message_id, state__in=Reply.OPEN).exists():
        raise ReplyStateError("reply_open", _("This reply is still being written."))
    admit_message(companion, now)
    return companion


State = Reply.State
KeepHeard = Callable[[Reply, int, datetime], Reply | None]
# Words end at a space or a dash. Some scripts put nothing between them: there one sign is as near to a word as one comes
# without a dictionary.
END = r"\s\u2013\u2014\u2026"
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
    r"\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
BETWEEN = re.compile(f"[{END}{UNSPACED}]")
GOES_ON = re.compile(f"[^{END}{UNSPACED}\\W_]")
JOINS = ("\u200d", "\ufe0f")  # what makes one sign of several
OPENING = ("Ps", "Pi")


async def break_off(reply: Reply, until: int, now: datetime, *, keep: KeepHeard) -> Reply | None:
    """Call `keep_heard`, or what does more; whoever makes the reply stops at once, and everyone who follows is told."""
    kept = await in_thread(keep, reply, until, now)
    await tell_to_stop(reply)
    if kept:
        await tell_companion(reply.companion_id, render_heard(kept))
    return kept


@erasing()
def keep_heard(reply: Reply, until: int, now: datetime) -> Reply | None:
    """Return the reply, `stopped`, with its words up to that place of its text, whole words only; None where it is gone.

    An open one ends, whichever process makes it. Of one that has ended already, the answer and its memory are cut, what
    was drawn from the rest goes with it, and the answer goes where nothing of it was heard. What it went on from stays.
    """
    companion = hold(reply.companion_id)
    mine = Reply.objects.filter(pk=reply.pk, companion=companion)
    found = mine.select_related("message", "continues", "answer__session").first() if companion else None
    if companion is None or found is None:
        return None
    until = max(until, len(found.continues.text) if found.continues else 0)
    if found.is_open:  # whoever makes it finds it ended, and can add nothing to its stream
        said = seal_and_read(found)
        said.text = cut_to_words(said.text, until)
        found = finish(found, State.STOPPED, said, now, held_by=found.lease_by)
        if found:
            _trim(found)
    elif found.answer and (text := cut_to_words(found.text, until)) != found.text:
        if text:
            reword(companion, found.answer, text, now)
        else:
            remove(companion, now, messages=[found.answer])
            found.answer = None
        found.state, found.text = State.STOPPED, text
        found.save(update_fields=["state", "text"])
        _trim(found)
    return found


def _trim(reply: Reply) -> None:
    """Leave nothing that was felt further on, nor any piece in Redis."""
    felt = [emotion for emotion in reply.emotions if emotion["at"] < len(reply.text)]
    Reply.objects.filter(pk=reply.pk).update(emotions=felt)
    transaction.on_commit(partial(wipe_streams, [reply.pk]), robust=True)


def cut_to_words(text: str, until: int) -> str:
    """Return the beginning of the text up to that place; a word that it cuts in two is left out.

    What is left of a text of which no word was heard is empty.
    """
    if until >= len(text):
        return text
    place = _find_word_end(text, max(until, 0))
    while place and (
        unicodedata.category(text[place]).startswith("M") or text[place] in JOINS or text[place - 1] in JOINS
    ):
        place -= 1
    kept = text[:place].rstrip()
    while kept and unicodedata.category(kept[-1]) in OPENING:
        kept = kept[:-1].rstrip()
    return kept if any(map(str.isalnum, kept)) else ""


def _find_word_end(text: str, place: int) -> int:
    """Return the place, or the end of the word before it where more of a word follows at once."""
    follows, ends = GOES_ON.search(text, place), BETWEEN.search(text, place)
    if follows is None or (ends and ends.start() < follows.start()):
        return place
    while place and not BETWEEN.match(text[place - 1]):
        place -= 1
    return place
