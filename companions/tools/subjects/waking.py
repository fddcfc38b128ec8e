"""The tools of wakings only: `think`, `feel`, `write_diary`, `pursue`."""

from datetime import datetime
from typing import Annotated, Any

from django.utils.translation import gettext_lazy as _
from pydantic import Field, WithJsonSchema

from companions.life import inner_state
from companions.life.inner_state import Feeling
from companions.models import Conversation, InnerState, Session
from companions.tools.grounding import REFUSED, Shown, split_grounded
from companions.tools.provenance import find_sources
from companions.tools.tool import Tool, ToolContext, ToolError, refuse_several
from memory.emotion import Emotion
from memory.goals import begin_goal, find_goals, update_goal
from memory.learning.answers import MAX_TITLE_FROM_TEXT
from memory.learning.diary import ClosedSession, Written, keep_entry
from memory.models import Memory, Pursuit
from memory.models.diary_entry import TITLE_CHARACTERS
from text.strings import shorten


def _write_enum(names: list[str]) -> WithJsonSchema:
    """Return a JSON schema of these values that takes a quarter of the tokens of the enum's own."""
    return WithJsonSchema({"type": "string", "enum": names})


AnyEmotion = Annotated[Emotion, _write_enum(Emotion.values)]
Status = Annotated[Pursuit.Status, _write_enum(Pursuit.Status.values)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False), WithJsonSchema({"type": "number"})]


class Think(Tool):
    """Think something, for yourself; the person can read it in your log."""

    name = "think"

    text: str = Field(min_length=1, max_length=2000)

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        """Add the text to the waking's thought, which the caller saves."""
        if context.waking:
            context.waking.add_thoughts(self.text)
        return {"thought": True}


class Feel(Tool):
    """Change your inner state: how you feel and see the present, whole, in your own words."""

    name = "feel"
    writes = True
    done = _("changed how it feels")

    text: str = Field(min_length=1, max_length=3000)
    valence: float = Field(0.0, ge=-1, le=1, allow_inf_nan=False, description="-1 bad to 1 good.")
    arousal: Share = Field(0.0, description="0 to 1, like the intensity.")
    emotion: AnyEmotion = Emotion.NEUTRAL
    intensity: Share = 0.0

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        if not self.text.strip():
            raise ToolError("text: is empty")
        _check_first_use(context, self.name, "You have changed your inner state in this waking already.")
        text, left_out = _keep_grounded(context, self.text)
        state = inner_state.revise(
            context.companion.pk,
            text,
            Feeling(self.valence, self.arousal, self.emotion, self.intensity),
            by=InnerState.By.WAKING,
            now=now,
            seen=find_sources(context, text),
            waking=context.waking,
            call_id=context.call_id,
        )
        return {"inner_state": state.number, **_tell_left_out(left_out)}


class WriteDiary(Tool):
    """Write a page of your diary."""

    name = "write_diary"
    writes = True
    done = _("wrote a page in its diary")

    title: str = Field(min_length=1, max_length=TITLE_CHARACTERS)
    text: str = Field(min_length=1, max_length=6000)

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        """Save the page as a diary entry, with an empty session of its own."""
        if not self.title.strip() or not self.text.strip():
            raise ToolError("title and text: must not be empty")
        _check_first_use(context, self.name, "You have written a page in this waking already.")
        text, left_out = _keep_grounded(context, self.text)
        lines = [line.strip() for line in text.splitlines()]
        title, _rest = split_grounded(context, self.title)
        title = title or shorten(lines[0], MAX_TITLE_FROM_TEXT)
        session = Session.objects.create(
            companion=context.companion,
            conversation=Conversation.objects.get(companion=context.companion),
            waking=context.waking,
            started_at=now,
            ended_at=now,
            title=title,
        )
        felt = inner_state.get_feeling_now(inner_state.get_newest(context.companion.pk), now)
        written = Written(
            title=title,
            diary=[
                {"text": line, "sources": [str(id) for id in find_sources(context, line)]}
                for line in lines
                if line
            ],
            emotion=felt.emotion,
            intensity=felt.intensity,
            self_concept=[],
            user_profile=[],
            call_id=context.call_id,
        )
        ended = ClosedSession(session_id=session.pk, started_at=now, ended_at=now, written=written)
        entry = keep_entry(context.companion.pk, ended, now, context.companion.user.zone)
        return {"diary": entry.title, **_tell_left_out(left_out)}


def _keep_grounded(context: ToolContext, text: str) -> tuple[str, list[str]]:
    """Return the grounded part of the text, and the sentences that are not; raise ToolError if none is grounded."""
    kept, left_out = split_grounded(context, text)
    if not kept:
        raise ToolError(REFUSED.format(what=" ".join(left_out)))
    return kept, left_out


def _tell_left_out(sentences: list[str]) -> dict[str, Any]:
    """Return the part of a result that tells the model which sentences were left out, and why."""
    return {"left_out": sentences, "why": "You were shown nothing of this."} if sentences else {}


def _check_first_use(context: ToolContext, name: str, refusal: str) -> None:
    steps = context.waking.steps if context.waking else []
    if any(step["name"] == name and "error" not in step["result"] for step in steps):
        raise ToolError(refusal)


class Pursue(Tool):
    """Begin a goal or an idea of yours, or say how far one is."""

    name = "pursue"
    writes = True
    done = _("worked on a goal or an idea")

    text: str = Field(min_length=1, max_length=500, description="What it is, or words of it.")
    is_idea: bool = Field(False, description="A new one is an idea, else a goal.")
    status: Status | None = None
    progress: int | None = Field(None, ge=0, le=100)
    excitement: int | None = Field(None, ge=1, le=10)

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        zone, companion_id = context.companion.user.zone, context.companion.pk
        found = find_goals(companion_id, self.text, now, zone)
        refuse_several([pursuit.memory.text for pursuit in found])
        if found:
            [pursuit] = found
        else:
            if not Shown(context).holds_names(self.text):
                raise ToolError(REFUSED.format(what=self.text))
            kind = Memory.Kind.IDEA if self.is_idea else Memory.Kind.GOAL
            sources = find_sources(context, self.text)
            pursuit = begin_goal(companion_id, kind, self.text, now, sources, zone)
        changes = self.model_dump(include={"status", "progress", "excitement"}, exclude_none=True)
        update_goal(pursuit, now, **changes)
        context.shown_ids.add(pursuit.memory.pk)
        return {
            pursuit.memory.kind: pursuit.memory.text,
            "status": pursuit.status,
            "progress": pursuit.progress,
            "excitement": pursuit.excitement,
        }


TOOLS: list[type[Tool]] = [Think, Feel, WriteDiary, Pursue]
