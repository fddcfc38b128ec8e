"""A turn under way, as it stands when the model calls a tool."""

import json
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from companions import tools
from companions.models import Companion, Reply, Session
from companions.pasts.log_import import Line, import_log
from companions.replies.checkpoint import Said
from companions.replies.context import TurnContext, compose, load_context
from companions.replies.finish import finish
from companions.replies.lifecycle import claim, process_name, start
from companions.replies.model_calls import record_call
from companions.replies.preparation import recall_memories
from providers.selection import get_provider

NOW = timezone.now()


def turn_of(
    companion: Companion, text: str = "Hello", now: datetime = NOW, *, is_in_call: bool = False
) -> TurnContext:
    """The turn of this message, with its prompt."""
    reply = claim(start(companion, text, None, now, is_in_call=is_in_call).reply.pk, now)
    assert reply
    turn = TurnContext(reply)
    turn.provider = get_provider()
    load_context(turn, now)
    recall_memories(turn, turn.message.text, None, now)
    compose(turn)
    record_call(turn, 1, now)
    return turn


def end(turn: TurnContext, text: str = "Well.", now: datetime = NOW) -> None:
    assert finish(turn.reply, Reply.State.DONE, Said(text), now, held_by=process_name())


def use(turn: TurnContext, name: str, /, **arguments: Any) -> dict[str, Any]:
    """What the tool gives, and the call with its result as the prompt holds them then."""
    given = tools.call(turn, name, json.dumps(arguments), NOW)
    wire = {"id": "1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    turn.prompt.append({"role": "assistant", "content": None, "tool_calls": [wire]})
    turn.prompt.append(
        {"role": "tool", "tool_call_id": "1", "content": json.dumps(given, ensure_ascii=False)}
    )
    return given


def log(companion: Companion, *texts: str, days_ago: float = 30) -> None:
    """What was said in an earlier session, turn about, a minute apart."""
    at = NOW - timedelta(days=days_ago)
    lines = [
        Line(role=("user", "assistant")[n % 2], text=text, at=at + timedelta(minutes=n))
        for n, text in enumerate(texts)
    ]
    import_log(companion, lines, NOW)
    Session.objects.filter(companion=companion, ended_at=None).update(ended_at=NOW)


@pytest.fixture
def turn(mira: Companion) -> TurnContext:
    return turn_of(mira)
