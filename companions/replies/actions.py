"""What a person may do with a reply: stop it, cut it off where they stopped listening, retry it, continue it."""

import contextlib
import re
import unicodedata
from datetime import datetime
from functools import partial

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from companions.branches.switching import check_no_answer, go_back, switch_to
from companions.conversations.editing import reword
from companions.deletion.deletion import remove
from companions.errors import ReplyStateError
from companions.events import REDIS_UNAVAILABLE, publish, render_heard, tell_companion
from companions.models import Companion, Message, Reply
from companions.models.companion import hold
from companions.replies.checkpoint import seal_and_read
from companions.replies.finish import finish
from companions.replies.lifecycle import admit_message, queue_reply
from companions.replies.streams import wipe_streams
from database.journal import erasing
from jobs.background import in_thread
from text.strings import has_words

STOPS = "replies.stop"


async def stop(reply: Reply) -> None:
    """Request the reply's end: set a flag on the row and notify its process. Raise ReplyStateError if it has ended."""
    row = Reply.objects.open().filter(pk=reply.pk)
    if not await in_thread(row.update, is_stop_asked=True):
        raise ReplyStateError("reply_ended", _("This reply has already ended."))
    await tell_to_stop(reply)


async def tell_to_stop(reply: Reply) -> None:
    """Notify the reply's process that it must stop; without Redis, it reads the row's flag at its next heartbeat."""
    with contextlib.suppress(*REDIS_UNAVAILABLE):
        await publish((STOPS, {"id": str(reply.pk)}))


@transaction.atomic
def retry(reply: Reply, now: datetime) -> Reply:
    """Queue a new reply to the same message; the earlier answer stays as another branch.

    Raise ReplyStateError, GateError.
    """
    companion = _hold_ended(reply, now)
    answers = Q(parent=reply.message_id, role=Message.Role.ASSISTANT, waking=None)
    asleep = Q(pk=reply.message_id, is_asleep=True)
    if Message.everywhere.filter(answers | asleep).exists():
        check_no_answer(companion)
        switch_to(companion, reply.message_id, now)
    return queue_reply(companion, reply.message, now)


@transaction.atomic
def go_on(reply: Reply, now: datetime) -> Reply:
    """Queue a new reply that continues a reply, which did not complete, from where it ended.

    Raise GateError, and ReplyStateError if the reply is gone or complete, if a reply to the same message is open, or
    if one that continues this has become an answer.
    """
    companion = _hold_ended(reply, now)
    if reply.state == Reply.State.DONE:
        raise ReplyStateError("reply_complete", _("This reply is complete."))
    # If a reply that continues this one, directly or not, has become an answer, a second one would repeat it.
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
    """Lock and return the companion.

    Raise ReplyStateError if the reply is gone or a reply to the same message is open, and GateError.
    """
    companion = hold(reply.companion_id)
    if companion is None or not Reply.objects.filter(pk=reply.pk).exists():
        raise ReplyStateError("no_such_reply", _("There is no such reply."))
    if Reply.objects.open().filter(message=reply.message_id).exists():
        raise ReplyStateError("reply_open", _("This reply is still being written."))
    admit_message(companion, now)
    return companion


State = Reply.State
# Words end at a space, a dash or an ellipsis. Some scripts put nothing between words: in those, each character counts
# as a word, since finding words would need a dictionary.
END = r"\s\u2013\u2014\u2026"
UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u312f\u31a0-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
    r"\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
BETWEEN = re.compile(f"[{END}{UNSPACED}]")
GOES_ON = re.compile(f"[^{END}{UNSPACED}\\W_]")
JOINS = ("\u200d", "\ufe0f")  # joins several code points into one visible character
OPENING = ("Ps", "Pi")


async def break_off(reply: Reply, until: int, now: datetime) -> Reply | None:
    """Cut the reply off by `keep_heard`, stop its process, and publish what is left."""
    kept = await in_thread(keep_heard, reply, until, now)
    await tell_to_stop(reply)
    if kept:
        await tell_companion(reply.companion_id, render_heard(kept))
    return kept


@erasing()
def keep_heard(reply: Reply, until: int, now: datetime) -> Reply | None:
    """Cut the reply off at the offset `until` of its text, at a whole word, and return it; None if it is gone.

    An open reply ends as stopped, whichever process generates it. If the reply has an answer already, the answer and
    its memory are cut and what was derived from the rest is deleted; an answer of which nothing is left is removed. The
    text of the reply that this one continues is never cut.
    """
    companion = hold(reply.companion_id)
    mine = Reply.objects.filter(pk=reply.pk, companion=companion)
    found = mine.select_related("message", "continues", "answer__session").first() if companion else None
    if companion is None or found is None:
        return None
    until = max(until, len(found.continues.text) if found.continues else 0)
    if found.is_open:  # its process will find it ended, and can add nothing to its sealed stream
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
    """Drop the emotions beyond the reply's text, and wipe its stream in Redis on commit."""
    felt = [emotion for emotion in reply.emotions if emotion["at"] < len(reply.text)]
    Reply.objects.filter(pk=reply.pk).update(emotions=felt)
    transaction.on_commit(partial(wipe_streams, [reply.pk]), robust=True)


def cut_to_words(text: str, until: int) -> str:
    """Return the text up to the offset `until`, without a word that would be cut in two; empty if no word is left."""
    if until >= len(text):
        return text
    place = _find_word_boundary(text, max(until, 0))
    while place and (
        unicodedata.category(text[place]).startswith("M") or text[place] in JOINS or text[place - 1] in JOINS
    ):
        place -= 1
    kept = text[:place].rstrip()
    while kept and unicodedata.category(kept[-1]) in OPENING:
        kept = kept[:-1].rstrip()
    return kept if has_words(kept) else ""


def _find_word_boundary(text: str, place: int) -> int:
    """Return `place`, or the start of the word that it would cut in two."""
    follows, ends = GOES_ON.search(text, place), BETWEEN.search(text, place)
    if follows is None or (ends and ends.start() < follows.start()):
        return place
    while place and not BETWEEN.match(text[place - 1]):
        place -= 1
    return place
