"""The kinds of requests that Kith makes to a chat model, composed as they are sent."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from accounts.models import User
from companions import tools
from companions.characters import load_characters
from companions.creation import create
from companions.life.wakings import waking
from companions.models import Companion, Prompt, Reply, Session
from companions.pasts.log_import import Line, import_log
from companions.prompting.history import compose_tool_result
from companions.replies.checkpoint import Said
from companions.replies.context import TurnContext
from companions.replies.finish import finish
from companions.replies.lifecycle import claim, process_name, queue_reply, start
from companions.replies.model_calls import record_call
from companions.replies.preparation import embed_message, prepare
from companions.sessions import closing, requests
from companions.tools.bounds import add_calls
from memory.core_memory import set_slot
from memory.embedding import embed_waiting
from memory.models import Revision
from memory.models.core_memory import By
from providers.chat.events import ToolCall
from tests.companions.life.waking import woken
from tests.fixtures.clock import clock_at
from tests.fixtures.rehearsal import RehearsalServer

TURNS = 40
LONG = 200  # messages
TOO_LONG = 400  # more than the context holds, so that the window moves
TOLD = (
    "My sister Ines is getting married in Porto on the 3rd of June, and I am to hold a speech.",
    "A speech! Do you know yet how it begins?",
    "Not at all. I moved into the flat above the bakery in March, by the way; it smells of bread at four.",
    "There are worse alarm clocks.",
    "My grandmother Lurdes taught me to row. She is eighty-six and still quicker than I am.",
    "I would like to see that.",
)
SMALL = (
    "I had soup for lunch.",
    "It rained all day here.",
    "The tram was late again.",
    "I am on the sofa now.",
)
ANSWERS = ("Soup is a good answer to such a day.", "And you had no umbrella, I suppose.", "Of course it was.")
CHINESE = ("今天中午喝了汤。", "外面下了一整天的雨。", "电车又晚点了。", "我现在坐在沙发上。")
KNOWN = {
    Revision.About.SELF_CONCEPT: (
        "I like to ask one thing at a time.",
        "I notice when a word comes twice.",
        "I am glad of small news.",
    ),
    Revision.About.USER_PROFILE: (
        "Ana teaches chemistry.",
        "Ana lives above a bakery.",
        "Ana's sister Ines marries in June.",
        "Ana rows on Sundays.",
    ),
}


@dataclass(frozen=True)
class Sent:
    """A request as it is sent."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]


def compose_kinds(model: RehearsalServer) -> Iterator[tuple[str, list[Sent]]]:
    """Yield each kind with what it sends: one request, but for an ending."""
    now = timezone.now()
    yield "first message", [_read(_ask(_meet("first", "en", now), "Hello Wren, nice to meet you.", now))]
    companion = _live("ordinary", "en", now)
    yield "ordinary", [_read(_ask(companion, SMALL[0], now))]
    yield "with memories", [_read(_ask(companion, "What did I tell you about my sister's wedding?", now))]
    long = _live("long", "en", now, LONG)
    yield "long history", [_read(_ask(long, SMALL[1], now))]
    yield "Chinese", [_read(_ask(_live("chinese", "zh-hans", now), CHINESE[0], now))]
    Session.objects.filter(companion=companion, ended_at=None).update(**_asked_for_tools())
    yield "with further tools", [_read(_ask(companion, "Which timers are set?", now))]
    yield "after a tool", [_read(_use_tool(companion, now), 2)]
    yield "go on", [_read(_go_on(companion, now))]
    model.reset()
    waking.run(woken(companion, now).pk, clock_at(now))
    yield "waking", _read_asked(model)[:1]
    model.reset()
    requests.close(companion, now)
    for closing_id in closing.find_due(now + timedelta(minutes=1)):
        closing.run(closing_id, clock_at(now + timedelta(minutes=1)))
    yield "ending", _read_asked(model)


def compose_talk() -> dict[str, list[Sent]]:
    """Return what the turns of a talk send: of a short one, one in which tools are asked for, and a very long one."""
    now = timezone.now()
    talks: dict[str, list[Sent]] = {}
    cases = (
        ("short", False, 12),
        ("a group of tools asked for", True, 12),
        ("full context", False, TOO_LONG),
    )
    for number, (name, asks, messages) in enumerate(cases):
        companion, sent = _live(f"talk-{number}", "en", now, messages), []
        for turn in range(TURNS):
            if asks and turn == TURNS // 2:
                Session.objects.filter(companion=companion, ended_at=None).update(**_asked_for_tools())
            at = now + timedelta(minutes=turn)
            context = _ask(companion, f"{SMALL[turn % len(SMALL)]} That was the {turn}th thing.", at, turn)
            sent.append(_read(context))
        talks[name] = sent
    return talks


def _asked_for_tools() -> dict[str, Any]:
    has_groups = any(field.name == "tool_groups" for field in Session._meta.fields)  # from 0.2.0 on
    return {"tool_groups": ["timers"]} if has_groups else {"digest_attempts": 0}


def _meet(name: str, language: str, now: datetime) -> Companion:
    user = User.objects.create_user(
        f"{name}@example.org", name="Ana", time_zone="Europe/Lisbon", messages_per_minute=10_000
    )
    [character] = [one for one in load_characters(language) if one.slug == "wren"]
    texts = {"name": character.name, "persona": character.persona, "greeting": character.greetings[0]}
    return create(user, tint=40, now=now - timedelta(days=30), **texts)


def _live(name: str, language: str, now: datetime, messages: int = 12) -> Companion:
    """Return a companion of a month, with a talk of so many messages under way."""
    companion = _meet(name, language, now)
    _say(companion, TOLD, now - timedelta(days=9))
    Session.objects.filter(companion=companion).update(ended_at=now - timedelta(days=8))
    for about, sentences in KNOWN.items():
        told = [{"text": text, "sources": []} for text in sentences]
        Revision.objects.create(
            companion=companion, about=about, number=1, sentences=told, by="closing", made_at=now
        )
    set_slot(companion.pk, "birthday", "the 4th of May", by=By.USER, now=now)
    small = CHINESE if language == "zh-hans" else SMALL
    texts = [(small[n // 2 % len(small)], ANSWERS[n // 2 % len(ANSWERS)])[n % 2] for n in range(messages)]
    start(companion, small[-1], None, now - timedelta(minutes=messages + 5))
    Reply.objects.filter(companion=companion).delete()
    _say(companion, texts, now - timedelta(minutes=messages + 2))
    session = Session.objects.filter(companion=companion, ended_at=None).get()
    companion.messages.filter(said_at__gt=now - timedelta(minutes=messages + 6)).update(session=session)
    Session.objects.filter(companion=companion, messages=None).delete()
    embed_waiting(companion.pk)
    return Companion.objects.select_related("user", "conversation").get(pk=companion.pk)


def _say(companion: Companion, texts: Any, at: datetime) -> None:
    lines = [
        Line(role=("user", "assistant")[n % 2], text=text, at=at + timedelta(minutes=n))
        for n, text in enumerate(texts)
    ]
    import_log(companion, lines, at + timedelta(minutes=len(lines)))


def _ask(companion: Companion, text: str, now: datetime, turn: int = 0) -> TurnContext:
    """Return the turn of this message as it is sent; it is answered."""
    context = _prepare(start(companion, text, None, now).reply, now)
    _end(context, ANSWERS[turn % len(ANSWERS)], now)
    return context


def _prepare(reply: Reply, now: datetime) -> TurnContext:
    taken = claim(reply.pk, now)
    if taken is None:
        raise SystemExit("Somebody else makes the bench's replies")
    context = TurnContext(taken)
    cue, vector = embed_message(context)
    prepare(context, cue, vector, now)
    return context


def _end(context: TurnContext, text: str, now: datetime, state: Reply.State = Reply.State.DONE) -> None:
    felt = [{"at": 0, "emotion": "happy", "intensity": 0.5}]
    finish(context.reply, state, Said(text, emotions=felt), now, held_by=process_name())


def _use_tool(companion: Companion, now: datetime) -> TurnContext:
    context = _prepare(start(companion, "Who taught me to row?", None, now).reply, now)
    arguments = json.dumps({"words": "who taught her to row"})
    add_calls(context, [ToolCall("call_1", "recall", arguments)])
    given = tools.call(context, "recall", arguments, now)
    context.prompt.append(compose_tool_result("call_1", given))
    record_call(context, 2, now)
    _end(context, "Lurdes.", now)
    return context


def _go_on(companion: Companion, now: datetime) -> TurnContext:
    context = _prepare(start(companion, "Tell me a story.", None, now).reply, now)
    _end(context, "Once there was a ferry that", now, Reply.State.INTERRUPTED)
    stopped = Reply.objects.select_related("message", "companion__user").get(pk=context.reply.pk)
    context = _prepare(queue_reply(companion, stopped.message, now, continues=stopped), now)
    _end(context, "Once there was a ferry that nobody took.", now)
    return context


def _read(context: TurnContext, round: int = 1) -> Sent:
    prompt = Prompt.objects.get(reply=context.reply, round=round)
    return Sent(prompt.messages, prompt.tools)


def _read_asked(model: RehearsalServer) -> list[Sent]:
    return [Sent(asked["messages"], asked.get("tools") or []) for asked in model.requests()]
