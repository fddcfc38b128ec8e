"""What a turn needs from the database before the model is asked, and the rows that record the asking."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from operator import attrgetter
from random import Random
from time import perf_counter

from django.conf import settings
from django.db import transaction

from accounts.models import ModelCall
from companions import history, prompts, tools
from companions.last_time import FIRST_TURNS, load_last_time
from companions.models import Message, Prompt, Session
from companions.replies.ahead import Ahead
from companions.replies.holding import hold_claimed, holding_claimed
from companions.replies.material import Turn
from companions.replies.mind import always_in_mind
from companions.replies.using import mood_of_session
from companions.sessions import window
from memory import flashback
from memory.among import Among
from memory.models import Recall
from memory.origins import drop_repetitions, load_origins
from memory.prepared import ONE, Prepared
from memory.quoting import quoted
from memory.recall import Found, recall, rows_of
from memory.text import folded
from memory.together import Asked, together
from memory.unasked import unasked
from memory.writing import insert
from providers.control_tokens import harmless

HISTORY_MESSAGES = 400
SPARE = 4  # recalled beside those that are shown, for some of them say the same thing
SESSION = Prepared(lambda: Session.objects.filter(messages=ONE).order_by())
WRITTEN_BEFORE = """ON CONFLICT (reply_id, round) DO UPDATE SET
messages = excluded.messages, tools = excluded.tools, shown = excluded.shown, created_at = excluded.created_at"""


def look_back(turn: Turn, now: datetime) -> None:
    """Hold the reply, and fetch all that its prompt needs beside what the message brings to mind; TurnOverError.

    Most of it is the history: the messages of this session that are sent and fit into the prompt, oldest first. Where
    some are left out, the session's summary goes with them; and it is as it is now, not as the turn began.
    """
    companion, message = turn.companion, turn.message
    _, _, [session], said, mood, mind, spoke = together(
        *holding_claimed(turn.reply),
        SESSION.asked({ONE: message.pk}),
        *_of_the_session(message, now),
        always_in_mind(companion.pk),
        prompts.spoke(companion, message),
    )
    if message.session_id != session.pk:  # what was said last went on to the next, and the message with it
        message.session = session
        said, mood = together(*_of_the_session(message, now))
    message.session = session
    visible = [one for one in said[1:] if not one.is_hidden]
    unsent = session.unsent - (_further_back(session, visible) if len(said) > HISTORY_MESSAGES else 0)
    left = window.sent(visible[::-1], max(unsent, 0))[::-1]
    turn.mind = replace(mind, scratch=session.scratch, pressure=session.pressure)
    room = prompts.room(companion, message, turn.reply, session.summary, turn.mind)
    turn.history = prompts.fitting(left, room)
    turn.summarised = [one.pk for one in visible[len(turn.history) :]]
    turn.summary = session.summary if turn.summarised else ""
    turn.facts = prompts.Facts.of(companion, session, spoke, now)
    turn.mood = mood
    turn.known = {one.memory_id for one in (said[0], *turn.history) if one.memory_id}
    is_beginning = sum(one.role == Message.Role.USER for one in visible) < FIRST_TURNS
    turn.last_time = load_last_time(companion, session) if is_beginning else None


def _of_the_session(message: Message, now: datetime) -> tuple[Asked[list[history.Spoken]], Asked[float]]:
    """What was said in the message's session, and the mood that it has made."""
    return history.said(message, HISTORY_MESSAGES + 1), mood_of_session(
        message.session_id, now, but=message.pk
    )


def _further_back(session: Session, visible: Sequence[history.Spoken]) -> int:
    """How many messages of a very long session lie before these."""
    return Message.objects.filter(session=session, is_hidden=False).count() - len(visible) - 1


def remember(turn: Turn, ahead: Ahead, now: datetime) -> None:
    """Recall for this turn what bears on the message: nothing that stands in this very prompt anyway.

    What it was read with is not recorded beside it: that stands in the prompt, and would outlast what is deleted. The
    rows that record it are written with those of the first call.
    """
    began = perf_counter()
    companion = turn.companion
    cue = ahead.cue or turn.message.text
    recalled = recall(
        companion.pk,
        cue,
        settings.RECALL_LIMIT + SPARE,
        now=now,
        zone=companion.user.zone,
        vector=ahead.vector,
        names=companion.names,
        policy=companion.policy,
        mood=turn.mood,
        among=Among(leaving_out_memories=turn.known),
        looked=ahead.held,
        by_itself=True,
    )
    recalled = [one for one in recalled if folded(one.memory.text) != folded(turn.message.text)]
    if cue != turn.message.text:
        recalled = [replace(one, reasons={**one.reasons, "with_talk": True}) for one in recalled]
    flashbacks = comes_unasked(turn, recalled, now)
    turn.origins = load_origins(companion.pk, [one.memory for one in (*recalled, *flashbacks)])
    recalled = drop_repetitions(recalled, turn.origins, turn.given, pinned_texts(turn))
    found = [*recalled[: settings.RECALL_LIMIT], *flashbacks]
    turn.found = prompts.that_fit(found, companion, turn.mind, now, turn.origins)
    milliseconds = round((perf_counter() - began) * 1000)
    turn.rows = rows_of(
        companion.pk,
        Recall.By.TURN,
        turn.message.text,
        turn.found,
        now,
        milliseconds,
        reply_id=turn.reply.pk,
        policy=companion.recall_policy,
    )


def pinned_texts(turn: Turn) -> list[str]:
    """Return the sentences, slots and lines of blocks that stand in the prompt: what does not fit is left out of it."""
    sent = prompts.system(turn.companion, turn.mind, turn.summary)
    return [text for text in turn.mind.texts if quoted(text)[1:-1] in sent]


def comes_unasked(turn: Turn, recalled: Sequence[Found], now: datetime) -> list[Found]:
    """What comes to mind of itself in this turn, now and then; the reply's id decides, so that again it is the same."""
    chance = Random(turn.reply.pk.int)  # noqa: S311 (nothing secret hangs on it)
    if not flashback.comes_unasked(chance, settings.FLASHBACK_PROBABILITY):
        return []
    known = [*turn.known, *(one.memory.pk for one in recalled)]
    found = unasked(turn.companion.pk, Among(leaving_out_memories=known), chance, now)
    return [found] if found else []


def compose(turn: Turn) -> None:
    """Render the prompt from what was looked back on and recalled."""
    turn.prompt = prompts.render(
        turn.companion,
        turn.history,
        turn.message,
        turn.found,
        turn.facts,
        turn.reply,
        turn.summary,
        turn.mind,
        turn.origins,
        turn.last_time,
    )
    turn.shown = {turn.message.pk, *(one.pk for one in turn.history), *(one.memory.pk for one in turn.found)}
    turn.shown |= {*turn.summarised, *turn.mind.sources}
    turn.shown |= turn.last_time.ids if turn.last_time else set()


@transaction.atomic
def prepare(turn: Turn, looked: Callable[[], Ahead], now: datetime) -> ModelCall:
    """Look back, recall, compose, and record the first call. Nothing is deleted between looking and recording.

    `looked` gives what was looked for, and may wait a moment for it: that comes while all else is fetched. What it
    raises undoes all.
    """
    look_back(turn, now)
    remember(turn, looked(), now)
    compose(turn)
    return _written(turn, 1, now)


@transaction.atomic
def record_call(turn: Turn, round: int, now: datetime) -> ModelCall:
    """The rows of one request to the model, written before it is made: the prompt as sent, and a ModelCall."""
    hold_claimed(turn.reply)
    return _written(turn, round, now)


def _written(turn: Turn, round: int, now: datetime) -> ModelCall:
    prompt = Prompt(
        companion=turn.companion,
        reply=turn.reply,
        round=round,
        messages=harmless(turn.prompt),
        tools=tools.offered(),
        shown=sorted(turn.shown, key=attrgetter("int")),
        created_at=now,
    )
    call = ModelCall(
        user=turn.companion.user,
        companion=turn.companion,
        reply=turn.reply,
        purpose=ModelCall.Purpose.ANSWER,
        provider=settings.CHAT["base_url"],
        model=settings.CHAT["model"],
        started_at=now,
    )
    insert(*turn.rows, prompt, call, conflicts={Prompt: WRITTEN_BEFORE})
    turn.rows = ()
    return call
