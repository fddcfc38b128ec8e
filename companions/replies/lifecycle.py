"""A reply's states in the database: queued with its message, claimed by one process at a time, saved and ended.

At its end, its text becomes a message, in one transaction with its memory and its state.
"""

import os
import secrets
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Protocol
from uuid import UUID

import orjson
import structlog
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import translation
from django.utils.translation import gettext as _

from accounts.errors import GateError
from accounts.models import ModelCall
from accounts.usage import admit
from companions.branches.marks import move_marks
from companions.branches.switching import go_back
from companions.conversations.messages import check_quoted, check_text, open_session, say
from companions.errors import ConflictError, LostOwnershipError, TextError
from companions.events import notify_person, notify_unread_changed
from companions.life.inner_state import get_newest, load_session_mood
from companions.life.outreach import deliver
from companions.minds.choice import get_current_provider, keep_model
from companions.models import Companion, Conversation, InnerState, Message, Reply, Session
from companions.models.companion import hold, lock
from companions.models.conversation import DIGEST_MESSAGES, REFLECTION_MESSAGES
from companions.prompting.history import change_window, move_window
from companions.prompting.turn_prompt import TEMPLATE
from companions.replies.broadcast import Place, seal_stream, take_unbroken
from database.journal import made_after
from jobs.background import enqueue
from memory.emotion import reinforce
from memory.models import Recalled
from memory.store import correct
from providers.selection import get_provider, is_rehearsal
from safety import notices

log = structlog.get_logger(__name__)
RETRY_AFTER_SECONDS = 10
LONG_ANSWER = timedelta(seconds=10)  # after so long, the person may have left: deliver the answer elsewhere


@cache
def _make_nonce(_pid: int) -> str:
    return secrets.token_hex(4)


def process_name() -> str:
    """Return the name under which this process leases replies: unique, even if its process id is used again."""
    return f"{socket.gethostname()[:40]}:{os.getpid()}:{_make_nonce(os.getpid())}"


@dataclass(frozen=True, slots=True)
class Started:
    """A saved message and its reply; `is_new` is False if the same message had been sent before."""

    message: Message
    reply: Reply
    is_new: bool

    @property
    def has_turn(self) -> bool:
        """Return whether the reply got its turn as the message was saved, so that this process must generate it."""
        return self.is_new and self.reply.state == Reply.State.THINKING


class Start(Protocol):
    """The signature of `start`, or of a function that does more in the same transaction."""

    def __call__(
        self, companion: Companion, text: str, client_id: str | None, now: datetime, /, *, at_once: bool
    ) -> Started: ...


@transaction.atomic
def start(
    companion: Companion,
    text: str,
    client_id: str | None,
    now: datetime,
    *,
    at_once: bool = False,
    quoted: UUID | None = None,
    is_in_call: bool = False,
) -> Started:
    """Save the message, which may quote another one of this branch, and a queued reply to it.

    With `at_once`, the reply gets its turn immediately if the companion has no other open one. With `is_in_call`, the
    message was said in a call, and the reply is made to be heard. For a `client_id` sent before, return the message
    saved then. Saves nothing if it raises TextError, QuoteError, ConflictError or GateError.
    """
    check_text(text)
    locked = hold(companion.pk)
    if locked is None:
        raise TextError("no_such_companion", _("You have no such companion."))
    companion, conversation = locked, locked.conversation
    sent = Message.everywhere.filter(companion=companion, client_id=client_id)
    before = sent.first() if client_id else None
    if before:
        if before.text != text or before.role != Message.Role.USER:
            raise ConflictError("client_id_taken", _("Another message has already been sent under this id."))
        reply = before.replies.order_by("-created_at").first()
        reply = reply or queue_reply(companion, before, before.said_at, is_in_call=is_in_call)
        return Started(before, reply, is_new=False)
    check_quoted(companion, quoted)
    admit_message(companion, now)
    message = Message(
        companion=companion,
        conversation=conversation,
        session=open_session(conversation, now),
        parent_id=conversation.head_id,
        quoted_id=quoted,
        role=Message.Role.USER,
        author=companion.user.name,
        text=text,
        client_id=client_id,
        said_at=now,
    )
    say(message, now)
    Conversation.objects.filter(pk=conversation.pk).update(head=message)
    conversation.head_id = message.pk
    reply = queue_reply(companion, message, now, at_once=at_once, is_in_call=is_in_call)
    return Started(message, reply, is_new=True)


def admit_message(companion: Companion, now: datetime) -> None:
    """Raise GateError if the person sent too many messages to all companions in the last minute or has no tokens left.

    A companion that is answered by the person's own provider needs no tokens.
    """
    recent = Reply.objects.filter(
        companion__user=companion.user_id, created_at__gt=now - timedelta(minutes=1)
    )
    is_own = get_current_provider(companion).is_own
    admit(companion.user, recent_messages=recent.count(), now=now, is_own=is_own)


def queue_reply(
    companion: Companion,
    message: Message,
    now: datetime,
    continues: Reply | None = None,
    *,
    at_once: bool = False,
    is_in_call: bool = False,
) -> Reply:
    """Save a reply at the end of the companion's queue. With `at_once`, it gets its turn if no other one is open.

    Call it with the companion locked. Raises GateError if too many replies wait already.
    """
    others = Reply.objects.filter(companion=companion).order_by("-created_at")
    # The open replies are always among the newest.
    newest = list(others.values_list("state", "created_at")[: settings.REPLIES_WAITING])
    states = [state for state, _created_at in newest]
    if states.count(Reply.State.QUEUED) >= settings.REPLIES_WAITING:
        detail = _("%(name)s still has many messages to answer. Wait for an answer before you go on.")
        raise GateError("too_many_waiting", detail % {"name": companion.name}, RETRY_AFTER_SECONDS)
    has_turn = at_once and not set(states) & set(Reply.OPEN)
    turn: dict[str, Any] = {"state": Reply.State.THINKING, "started_at": now, "template": TEMPLATE}
    return Reply.objects.create(
        companion=companion,
        message=message,
        continues=continues,
        text=continues.text if continues else "",
        emotions=continues.emotions if continues else [],
        is_in_call=is_in_call,
        created_at=max(now, newest[0][1] + timedelta(microseconds=1)) if newest else now,
        lease_by=process_name(),
        lease_at=now,
        **(turn if has_turn else {}),
    )


def claim(reply_id: UUID, now: datetime) -> Reply | None:
    """Claim the reply for this process and return it; None if it is gone or its turn has not come.

    Its turn has come if it waits, no reply of its companion is under way, and none waits before it.
    """
    others = Reply.objects.filter(companion=OuterRef("companion"))
    before = others.filter(
        Q(state__in=Reply.UNDER_WAY) | Q(state=Reply.State.QUEUED, created_at__lt=OuterRef("created_at"))
    )
    free = Reply.objects.waiting().filter(~Exists(before), pk=reply_id)
    taken = {"state": Reply.State.THINKING, "lease_by": process_name(), "lease_at": now, "started_at": now}
    try:
        with transaction.atomic():
            if not free.update(**taken, template=TEMPLATE):
                return None
            related = ("companion__user", "companion__conversation", "companion__mind", "message")
            return Reply.objects.select_related(*related).get(pk=reply_id)
    except IntegrityError:  # another process was quicker; the constraint reply_one_at_a_time holds
        return None


def give_back(reply: Reply) -> None:
    """Requeue a claimed reply, of which nothing has been said yet, for any process to claim."""
    mine = Reply.objects.filter(pk=reply.pk, state=Reply.State.THINKING, lease_by=process_name())
    mine.update(state=Reply.State.QUEUED, started_at=None, lease_at=None)


def hold_reply(reply: Reply, **changed: Any) -> None:
    """Lock the reply's companion until the transaction ends, and save the `changed` fields of the reply, if any.

    Raise LostOwnershipError if this process lost the reply. All that is written for a reply is written under this lock,
    so that nothing deleted meanwhile is written back.
    """
    lock(reply.companion_id)
    mine = Reply.objects.under_way().filter(pk=reply.pk, lease_by=process_name())
    if not (mine.update(**changed) if changed else mine.exists()):
        raise LostOwnershipError


@transaction.atomic
def take_over(now: datetime) -> list[UUID]:
    """Lease to this process the replies under way whose lease has run out, and return their ids."""
    lost = Reply.objects.under_way().filter(lease_at__lt=now - timedelta(seconds=settings.LEASE_LOST_SECONDS))
    ids = list(lost.select_for_update(skip_locked=True).values_list("pk", flat=True))
    Reply.objects.filter(pk__in=ids).update(lease_by=process_name(), lease_at=now)
    return ids


def find_startable(now: datetime, running: Iterable[UUID]) -> list[UUID]:
    """Return the waiting replies that this process may start, oldest first; renew its leases of waiting ones.

    These are its own, released ones, and those whose process is gone, of companions with no reply under way. A reply
    that got its turn as its message was saved, but is not among `running`, is requeued first: its task never began.
    """
    soon = timedelta(seconds=settings.LEASE_RENEWED_SECONDS)
    mine = Reply.objects.filter(state=Reply.State.THINKING, lease_by=process_name()).exclude(pk__in=running)
    not_begun = mine.filter(
        lease_at=F("started_at"), started_at__lt=now - soon
    )  # never renewed nor taken over
    if given_up := not_begun.update(state=Reply.State.QUEUED, started_at=None):
        log.warning("turns_not_begun", count=given_up)
    Reply.objects.waiting().filter(lease_by=process_name()).update(lease_at=now)
    busy = Reply.objects.under_way().filter(companion=OuterRef("companion"))
    late = now - timedelta(seconds=settings.LEASE_LOST_SECONDS)
    nobodys = Q(lease_by=process_name()) | Q(lease_at=None) | Q(lease_at__lt=late)
    waiting = Reply.objects.waiting().filter(~Exists(busy), nobodys)
    return list(waiting.order_by("created_at").values_list("pk", flat=True))


STRENGTHENING = (Reply.State.DONE, Reply.State.STOPPED, Reply.State.INTERRUPTED)
# Saves all replies of a process at once: one by one, 200 replies delay its streams by a third of a second. The
# parameters are sent in binary (%b): quoting the texts took as long again.
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
    """The content of a reply so far: text, reasoning, number of its last piece, tool calls, emotions, error code."""

    text: str = ""
    thought: str = ""
    seq: int = 0
    tool_calls: list[dict[str, object]] = field(default_factory=list)
    emotions: list[dict[str, object]] = field(default_factory=list)
    code: str = ""


def seal_and_read(reply: Reply) -> Said:
    """Seal the reply's stream, so that no piece can be added; return the row's content plus what the stream has."""
    said = Said(reply.text, reply.thought, reply.seq, reply.tool_calls, reply.emotions)
    for entry in take_unbroken(seal_stream(reply.pk, Place(reply.seq)), reply.seq):
        frame = orjson.loads(entry.json)
        if frame["type"] == "reply.started":  # sent again when what was said has been retracted
            said.text = frame["text"]
            said.emotions = [felt for felt in said.emotions if int(str(felt["at"])) < len(said.text)]
        elif frame["type"] == "reply.piece":
            said.text += frame["text"]
        elif frame["type"] == "reply.thought":
            said.thought += frame["text"]
        elif frame["type"] == "reply.emotion":
            felt = {name: frame[name] for name in ("at", "emotion", "intensity")}
            said.emotions += [] if felt in said.emotions else [felt]
        said.seq = max(said.seq, entry.seq)
    return said


def save_progress(saying: Mapping[UUID, Said], now: datetime) -> set[UUID]:
    """Renew the leases of the replies and save their content so far; return the ids of those this process still holds."""
    replies = saying.values()
    parameters: dict[str, Any] = {
        "process": process_name(),
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
    """End the reply and return it; None if `held_by` does not hold it, or it has ended already or is gone."""
    companion = hold(reply.companion_id)
    held = Reply.objects.filter(pk=reply.pk, state__in=Reply.OPEN, lease_by=held_by)
    ended = held.select_related("message", "continues__answer").first() if companion else None
    if companion is None or ended is None:
        return None
    goes_on = bool(ended.continues and ended.continues.answer)
    if said.text.strip():
        ended.answer = _save_answer(companion, ended, said.text, now)
    # Changes made during the reply count as made after the answer, unless that was inserted among earlier messages.
    mark = ended.answer.pk if ended.answer and not goes_on and not _is_followed(ended) else None
    if mark:
        move_marks(companion.pk, {ended.pk: mark})
    ended.state, ended.text, ended.thought, ended.seq = state, said.text, said.thought, said.seq
    ended.tool_calls, ended.emotions = said.tool_calls, said.emotions
    ended.code, ended.ended_at = said.code, now
    # A short reply ends before `first_piece_at` is saved.
    ended.first_piece_at = ended.first_piece_at or reply.first_piece_at
    ended.save()
    if state == Reply.State.DONE:
        keep_model(companion, ended)
    with made_after(mark):
        strengthen_shown(ended, now)
        adjust_window(ended)
    if ended.answer and state == Reply.State.DONE and now - ended.created_at >= LONG_ANSWER:
        deliver(ended.answer, now, is_answer=True)
    _enqueue_due_work(ended)
    _note_continuous_use(ended, companion, now)
    notify_unread_changed(companion.user_id)
    if ended.answer is None:
        _restore_earlier_answer(companion, ended, now)
    return ended


def _save_answer(companion: Companion, reply: Reply, text: str, now: datetime) -> Message:
    """Save the text as the answer it continues, or as a new message after the one it answers; return that message."""
    if reply.continues and (answer := reply.continues.answer):
        Reply.objects.filter(pk=reply.continues.pk).update(answer=None)
        reply.continues.answer = None
        answer.text = text
        if reply.is_stand_in or not answer.is_stand_in:  # an answer by two models names the stand-in
            answer.model, answer.is_stand_in = reply.model, reply.is_stand_in
        answer.save(update_fields=["text", "model", "is_stand_in"])
        correct(answer.memory, text, now)
        return answer
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
            is_rehearsed=is_rehearsal(reply.model),
            model=reply.model,
            is_stand_in=reply.is_stand_in,
        ),
        now,
    )
    # Messages saved meanwhile follow the answer; if there are none, the answer becomes the head.
    meanwhile = Q(role=Message.Role.USER) | Q(waking__isnull=False)
    Message.objects.filter(meanwhile, parent=reply.message).update(parent=answer)
    Conversation.objects.filter(pk=companion.conversation.pk, head=reply.message).update(head=answer)
    return answer


def _is_followed(reply: Reply) -> bool:
    """Return whether a message that is older than the reply follows its answer."""
    return Message.objects.filter(parent=reply.answer_id, said_at__lt=reply.created_at).exists()


def _restore_earlier_answer(companion: Companion, reply: Reply, now: datetime) -> None:
    """Switch back to the newest earlier answer to the message, if there is one and a retry of it produced none."""
    earlier = Message.everywhere.filter(parent=reply.message, role=Message.Role.ASSISTANT, waking=None)
    answer = earlier.order_by("-said_at", "-id").first()
    if answer and answer.is_asleep and companion.conversation.head_id == reply.message_id:
        go_back(companion, answer, now)


def _enqueue_due_work(reply: Reply) -> None:
    """Enqueue the session's digest and the companion's reflection if enough messages wait; each task checks again."""
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
    """Record the time of continuous use, and send the person's open pages any legal notice that is due."""
    said_at = ended.message.said_at
    is_told = ended.state in (Reply.State.DONE, Reply.State.STOPPED)
    due = notices.record_use(companion.user, said_at, now if is_told else said_at)
    with translation.override(companion.user.language or "en"):
        for notice in due:
            notify_person(companion.user_id, notices.as_frame(notice))


def strengthen_shown(reply: Reply, now: datetime) -> None:
    """Strengthen the memories that the ended reply recalled, each once in a session, if the reply said anything new."""
    before = reply.continues.text if reply.continues else ""
    if reply.state not in STRENGTHENING or reply.text.strip() == before.strip():
        return
    mine = Recalled.objects.of(reply.companion_id)
    shown = mine.filter(recall__reply=reply).values("memory")
    session_id = reply.message.session_id
    used = mine.filter(is_used=True, memory__in=shown, recall__reply__message__session=session_id)
    used_before = used.exclude(recall__reply__message=reply.message_id).values_list("memory", flat=True)
    mood = load_session_mood(session_id, get_newest(reply.companion_id), now)
    reinforce(reply.pk, mood, now, _find_earlier_parts(reply), list(used_before))


def _find_earlier_parts(reply: Reply) -> list[UUID]:
    """Return the ids of the replies that this one continues: the one before it, the one before that, and so on."""
    if reply.continues_id is None:
        return []
    replies = Reply.objects.filter(message=reply.message_id)
    continues = dict(replies.values_list("pk", "continues"))
    found: list[UUID] = [reply.continues_id]
    while earlier := continues.get(found[-1]):
        found.append(earlier)
    return found


def adjust_window(reply: Reply) -> None:
    """Adjust how many of the session's oldest messages are no longer sent, by how full the reply's last prompt was."""
    calls = ModelCall.objects.filter(reply=reply, purpose=ModelCall.Purpose.ANSWER, prompt_tokens__gt=0)
    tokens = calls.order_by("-pk").values_list("prompt_tokens", flat=True).first()
    if tokens is None:
        return
    session = Session.objects.get(pk=reply.message.session_id)
    pressure = tokens / get_provider().context_tokens
    # The count matters only up to the first message that would be sent: in most turns nothing is counted.
    limit = max(session.unsent + change_window(pressure) + 1, 0)
    visible = Message.objects.filter(session=session, is_hidden=False).order_by()
    unsent = move_window(session.unsent, pressure, visible[:limit].count())
    Session.objects.filter(pk=session.pk).update(unsent=unsent, pressure=pressure)
