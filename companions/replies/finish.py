"""The end of a reply: its text becomes a message, in one transaction with its memory and its state; and what follows."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from accounts.models import ModelCall
from companions.branches.marks import move_marks
from companions.branches.switching import go_back
from companions.conversations.messages import open_session, say
from companions.events import notify_of_notice, notify_unread_changed
from companions.life.inner_state import get_newest, load_session_mood
from companions.life.outreach import deliver
from companions.minds.choice import keep_model
from companions.models import Companion, Conversation, InnerState, Message, Reply
from companions.models.companion import hold
from companions.models.conversation import DIGEST_MESSAGES, REFLECTION_MESSAGES
from companions.prompting.history import change_window, move_window
from companions.replies.checkpoint import Said
from database.journal import made_after
from jobs.background import enqueue
from memory.emotion import count_uses
from memory.models import Recalled
from memory.store import correct
from providers.selection import get_provider, is_rehearsal
from safety.notices import record_use

LONG_ANSWER = timedelta(seconds=10)  # after so long, the person may have left: deliver the answer elsewhere
STRENGTHENING = (Reply.State.DONE, Reply.State.STOPPED, Reply.State.INTERRUPTED)


@transaction.atomic
def finish(reply: Reply, state: Reply.State, said: Said, now: datetime, *, held_by: str) -> Reply | None:
    """End the reply and return it; None if `held_by` does not hold it, or it has ended already or is gone."""
    companion = hold(reply.companion_id)
    held = Reply.objects.open().filter(pk=reply.pk, lease_by=held_by)
    ended = held.select_related("message__session", "continues__answer").first() if companion else None
    if companion is None or ended is None:
        return None
    goes_on = bool(ended.continues and ended.continues.answer)
    if said.text.strip():
        # What broke off keeps its last space: it may be continued there.
        text = said.text.rstrip() if state == Reply.State.DONE else said.text
        ended.answer = _save_answer(companion, ended, text, now)
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
    if not reply.answer_id:
        return
    said = Message.objects.filter(session=reply.message.session_id, is_hidden=False)
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
    for notice in record_use(companion.user, said_at, now if is_told else said_at):
        notify_of_notice(companion.user, notice)


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
    count_uses(reply.pk, mood, now, _find_earlier_parts(reply), list(used_before))


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
    session = reply.message.session
    pressure = tokens / get_provider().context_tokens
    # The count matters only up to the first message that would be sent: in most turns nothing is counted.
    limit = max(session.unsent + change_window(pressure) + 1, 0)
    visible = Message.objects.filter(session=session, is_hidden=False).order_by()
    session.unsent = move_window(session.unsent, pressure, visible[:limit].count())
    session.pressure = pressure
    session.save(update_fields=["unsent", "pressure"])
