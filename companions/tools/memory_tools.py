"""The tools `remember`, `recall`, `revise` and `forget`: long-term memory, and the slots."""

from datetime import datetime
from time import perf_counter
from typing import Any, Self

from django.db import transaction
from pydantic import BaseModel, Field, model_validator

from companions.models import Companion
from companions.prompting.turn_prompt import describe_memory
from companions.tools.bounds import fitting, room
from companions.tools.own_words import check_letting_go, check_new_text
from companions.tools.provenance import show, sources
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.core_memory import delete_slot, find_slot, set_slot
from memory.embedding import embed_cue
from memory.models import Memory, Recall
from memory.models.core_memory import By
from memory.recall.candidates import MemoryFilter
from memory.recall.origins import Origins, load_origins
from memory.recall.recall import LEARNT, Found, recall, search, told
from memory.store import keep_earlier, keep_fact, note_retraction, retract, revise
from text.storable import folded, storable

MOST_A_TURN = 3  # searches
NAMED_AT_ONCE = 5  # of several that are meant by the same words


class RememberIn(BaseModel):
    """Keep one fact in long-term memory. Use it when the person asks you to remember something."""

    text: str = Field(min_length=1, max_length=2000, description="The fact, as one plain sentence.")
    slot: str = Field("", description="A short name, to keep it always in mind: 200 characters.")


class WhichIn(BaseModel):
    slot: str = Field("", description="The slot's name.")
    memory: str = Field("", max_length=2000, description="Or words of what you kept.")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        if bool(self.slot.strip()) == bool(self.memory.strip()):
            raise ValueError("name either a slot or a memory")
        return self


class ReviseIn(WhichIn):
    """Correct a slot, or a fact that you kept, when the person says in this talk that it has changed. Use their words."""

    text: str = Field(min_length=1, max_length=2000, description="What holds now.")


class ForgetIn(WhichIn):
    """Let go of a slot, or of a fact that you kept, when the person asks for it in this talk."""


@transaction.atomic
def _remember(context: ToolContext, arguments: RememberIn, now: datetime) -> dict[str, Any]:
    context.hold()
    if arguments.slot:
        return _set(context, arguments.slot, arguments.text, now)
    ids, zone = sources(context, arguments.text), context.companion.user.zone
    memory = _kept_before(context, arguments.text) or keep_fact(
        context.companion.pk, arguments.text, now, now, source_ids=ids, zone=zone
    )
    context.shown.add(memory.pk)
    return {"remembered": memory.text}


def _kept_before(context: ToolContext, text: str) -> Memory | None:
    """What was kept in these words in answer to this message: a call is run again where its commit got no answer."""
    mine = Memory.objects.of(context.companion.pk).open().filter(sources__in=context.causes)
    return mine.filter(kind=Memory.Kind.FACT, text=storable(text)).first()


def _set(context: ToolContext, name: str, text: str, now: datetime) -> dict[str, Any]:
    """What stood in the slot before is kept as past; in other words only where the person told them in this talk."""
    ids = sources(context, text)
    earlier = context.companion.slots.filter(name=name.strip()).first()
    if earlier and earlier.text != text:
        check_new_text(context, f"{earlier.name}: {earlier.text}", text)
        past = keep_earlier(earlier, now, context.companion.user.zone)
        note_retraction(past, context.reply_id, now, slot=earlier.name)
    slot = set_slot(context.companion.pk, name, text, by=By.COMPANION, now=now, source_ids=ids)
    return {"slot": slot.name, "remembered": slot.text}


@transaction.atomic
def _revise(context: ToolContext, arguments: ReviseIn, now: datetime) -> dict[str, Any]:
    context.hold()
    if arguments.slot:
        return _set(context, find_slot(context.companion.pk, arguments.slot).name, arguments.text, now)
    old, ids = _learnt(context, arguments.memory, now), sources(context, arguments.text)
    check_new_text(context, old.text, arguments.text)
    new = revise(old, arguments.text, now, ids, context.companion.user.zone)
    note_retraction(old, context.reply_id, now)
    context.shown.update({old.pk, new.pk})
    return {"revised": old.text, "remembered": new.text}


@transaction.atomic
def _forget(context: ToolContext, arguments: ForgetIn, now: datetime) -> dict[str, Any]:
    context.hold()
    if arguments.slot:
        slot = find_slot(context.companion.pk, arguments.slot)
        check_letting_go(context, f"{slot.name}: {slot.text}")
        past = keep_earlier(slot, now, context.companion.user.zone)
        note_retraction(past, context.reply_id, now, slot=slot.name)
        return {"forgotten": delete_slot(context.companion.pk, arguments.slot).text}
    memory = _learnt(context, arguments.memory, now)
    check_letting_go(context, memory.text)
    retract(memory, now)
    note_retraction(memory, context.reply_id, now)
    context.shown.add(memory.pk)
    return {"forgotten": memory.text}


def _learnt(context: ToolContext, words: str, now: datetime) -> Memory:
    """The one learnt memory that holds with these words; ToolError where none does, or several."""
    ids = search(context.companion.pk, words, MemoryFilter(kinds=LEARNT), now, context.companion.user.zone)
    found = list(told(context.companion.pk).filter(pk__in=ids).newest(NAMED_AT_ONCE))
    same = [one for one in found if folded(one.text.strip()) == folded(words.strip())]
    if len(same or found) == 1:
        return (same or found)[0]
    if not found:
        raise ToolError("Nothing that you kept has these words. What the person said cannot be changed.")
    texts = "; ".join(repr(one.text[:200]) for one in found)
    raise ToolError(f"Several have these words. Give more of the one that you mean: {texts}")


class RecallIn(BaseModel):
    """Search long-term memory when what is already given does not answer the person."""

    cue: str = Field(min_length=1, max_length=2000, description="What to look for, in plain words.")
    count: int = Field(5, ge=1, le=20, description="How many memories at most.")


def _recall(context: ToolContext, arguments: RecallIn, now: datetime) -> dict[str, Any]:
    _allow(context)
    began, companion = perf_counter(), context.companion
    found = recall(
        companion.pk,
        arguments.cue,
        arguments.count,
        now=now,
        zone=companion.user.zone,
        vector=embed_cue(arguments.cue, context.payer, companion.names),
        names=companion.names,
        policy=companion.policy,
        mood=context.mood,
        filters=MemoryFilter(leaving_out=[context.message.pk] if context.message else []),
    )
    origins = load_origins(companion.pk, [one.memory for one in found])
    given = fitting([_told(one, companion, origins) for one in found], room(context))
    show(context, found[: len(given)], arguments.cue, now, began, policy=companion.recall_policy)
    return {"remembered": given}


def _allow(context: ToolContext) -> None:
    if _searches(context) >= MOST_A_TURN:
        raise ToolError(f"You have searched {MOST_A_TURN} times in this turn. Answer with what you have.")


def _searches(context: ToolContext) -> int:
    if context.waking:
        return sum(one["name"] == "recall" for one in context.waking.steps)
    mine = Recall.objects.filter(companion_id=context.companion.pk, reply=context.reply_id, by=Recall.By.TOOL)
    return mine.exclude(policy="").count()


def _told(found: Found, companion: Companion, origins: Origins) -> dict[str, Any]:
    """A memory with its day in the user's zone, and what it is."""
    memory = found.memory
    return {
        "when": f"{memory.happened_at.astimezone(companion.user.zone):%Y-%m-%d}",
        "what": describe_memory(memory, companion, origins),
        "text": memory.text,
    }


TOOLS = [
    Tool("remember", RememberIn, _remember),
    Tool("revise", ReviseIn, _revise),
    Tool("forget", ForgetIn, _forget),
    Tool("recall", RecallIn, _recall),
]
