"""The tools of wakings only: `think`, `stay_silent`, `feel`, `write_diary`, `pursue`."""

from datetime import datetime
from typing import Annotated, Any

from django.db import transaction
from pydantic import BaseModel, Field, WithJsonSchema

from companions.life import inner_state
from companions.life.inner_state import Feeling
from companions.models import Conversation, InnerState, Session
from companions.tools.provenance import sources
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.emotion import Emotion
from memory.goals import begin_goal, find_goals, update_goal
from memory.learning.diary import ClosedSession, Written, keep_entry
from memory.models import Memory, Pursuit
from text.storable import shorten

THOUGHT_CHARACTERS = 4000  # of a waking in all


def _named(names: list[str]) -> WithJsonSchema:
    """One of these, in few tokens: a schema of its own takes four times as many."""
    return WithJsonSchema({"type": "string", "enum": names})


Felt = Annotated[Emotion, _named(Emotion.values)]
Status = Annotated[Pursuit.Status, _named(Pursuit.Status.values)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), WithJsonSchema({"type": "number"})]


class ThinkIn(BaseModel):
    """Think something, for yourself; the person can read it in your log."""

    text: str = Field(min_length=1, max_length=2000)


class SilentIn(BaseModel):
    """Say nothing this time. It ends the waking."""

    why: str = Field("", max_length=500)


class FeelIn(BaseModel):
    """Change your inner state: how you feel and see the present, whole, in your own words."""

    text: str = Field(min_length=1, max_length=3000)
    valence: float = Field(0.0, ge=-1, le=1, allow_inf_nan=False, description="-1 bad to 1 good.")
    arousal: Share = Field(0.0, description="0 to 1, like the intensity.")
    emotion: Felt = Emotion.NEUTRAL
    intensity: Share = 0.0


class WriteIn(BaseModel):
    """Write a page of your diary."""

    title: str = Field(min_length=1, max_length=200)
    text: str = Field(min_length=1, max_length=6000)


class PursueIn(BaseModel):
    """Begin a goal or an idea of yours, or say how far one is."""

    text: str = Field(min_length=1, max_length=500, description="What it is, or words of it.")
    is_idea: bool = Field(False, description="A new one is an idea, else a goal.")
    status: Status | None = None
    progress: int | None = Field(None, ge=0, le=100)
    excitement: int | None = Field(None, ge=1, le=10)


def _think(context: ToolContext, arguments: ThinkIn, now: datetime) -> dict[str, Any]:
    _thought(context, arguments.text)
    return {"thought": True}


def _stay_silent(context: ToolContext, arguments: SilentIn, now: datetime) -> dict[str, Any]:
    _thought(context, arguments.why)
    return {"silent": True}


def _thought(context: ToolContext, text: str) -> None:
    """Add to what the waking has thought; whoever called writes it down."""
    if context.waking and text.strip():
        before = context.waking.thought
        context.waking.thought = shorten(f"{before}\n\n{text.strip()}".strip(), THOUGHT_CHARACTERS)


@transaction.atomic
def _feel(context: ToolContext, arguments: FeelIn, now: datetime) -> dict[str, Any]:
    context.hold()
    if not arguments.text.strip():
        raise ToolError("text: is empty")
    if context.waking and _has_used("feel", context.waking.steps):
        raise ToolError("You have changed your inner state in this waking already.")
    state = inner_state.revise(
        context.companion.pk,
        arguments.text,
        Feeling(arguments.valence, arguments.arousal, arguments.emotion, arguments.intensity),
        by=InnerState.By.WAKING,
        now=now,
        seen=sources(context, arguments.text),
        waking=context.waking,
        call_id=context.call_id,
    )
    return {"inner_state": state.number}


@transaction.atomic
def _write_diary(context: ToolContext, arguments: WriteIn, now: datetime) -> dict[str, Any]:
    """The page has a session of its own, in which nothing was said."""
    context.hold()
    title, lines = arguments.title.strip(), [one.strip() for one in arguments.text.splitlines()]
    if not title or not any(lines):
        raise ToolError("title and text: must not be empty")
    if context.waking and _has_used("write_diary", context.waking.steps):
        raise ToolError("You have written a page in this waking already.")
    conversation = Conversation.objects.get(companion=context.companion)
    session = Session.objects.create(
        companion=context.companion,
        conversation=conversation,
        waking=context.waking,
        started_at=now,
        ended_at=now,
        title=title,
    )
    felt = inner_state.get_feeling_now(inner_state.get_newest(context.companion.pk), now)
    written = Written(
        title=title,
        diary=[{"text": one, "sources": [str(id) for id in sources(context, one)]} for one in lines if one],
        emotion=felt.emotion,
        intensity=felt.intensity,
        self_concept=[],
        user_profile=[],
        call_id=context.call_id,
    )
    ended = ClosedSession(session_id=session.pk, started_at=now, ended_at=now, written=written)
    entry = keep_entry(context.companion.pk, ended, now, context.companion.user.zone)
    return {"diary": entry.title}


def _has_used(name: str, steps: list[dict[str, Any]]) -> bool:
    return any(one["name"] == name and "error" not in one["result"] for one in steps)


@transaction.atomic
def _pursue(context: ToolContext, arguments: PursueIn, now: datetime) -> dict[str, Any]:
    context.hold()
    zone, companion_id = context.companion.user.zone, context.companion.pk
    found = find_goals(companion_id, arguments.text, now, zone)
    if len(found) > 1:
        texts = "; ".join(repr(one.memory.text[:200]) for one in found[:5])
        raise ToolError(f"Several have these words. Give more of the one that you mean: {texts}")
    kind = Memory.Kind.IDEA if arguments.is_idea else Memory.Kind.GOAL
    ids = sources(context, arguments.text)
    pursuit = found[0] if found else begin_goal(companion_id, kind, arguments.text, now, ids, zone)
    stands = {"status": arguments.status, "progress": arguments.progress, "excitement": arguments.excitement}
    update_goal(pursuit, now, **{name: value for name, value in stands.items() if value is not None})
    context.shown.add(pursuit.memory.pk)
    told = {"status": pursuit.status, "progress": pursuit.progress, "excitement": pursuit.excitement}
    return {pursuit.memory.kind: pursuit.memory.text, **told}


TOOLS = [
    Tool("think", ThinkIn, _think),
    Tool("stay_silent", SilentIn, _stay_silent),
    Tool("feel", FeelIn, _feel),
    Tool("write_diary", WriteIn, _write_diary),
    Tool("pursue", PursueIn, _pursue),
]
