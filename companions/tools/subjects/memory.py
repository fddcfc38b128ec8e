"""The tools `remember`, `forget` and `recall`, for learnt memories and slots.

What is kept names nobody, no number and no day that the model was not shown: models invent them. An existing fact or
slot is changed only if the person said so in this session, and they can undo it. `forget` only makes a proposal, which
the person confirms.
"""

from datetime import datetime
from time import perf_counter
from typing import Any
from uuid import UUID

from django.utils.translation import gettext_lazy as _
from pydantic import AliasChoices, Field, PrivateAttr

from companions.memories.forget_proposals import propose
from companions.prompting.turn_prompt import describe_memory
from companions.tools.bounds import count_tokens_left, take_fitting
from companions.tools.grounding import Shown
from companions.tools.own_words import check_letting_go, check_new_text
from companions.tools.provenance import find_sources, record_shown
from companions.tools.tool import MAX_NAMED, Tool, ToolContext, ToolError, refuse_several
from memory.core_memory import delete_slot, set_slot
from memory.embedding import embed_cue
from memory.learning.neighbours import find_alike
from memory.models import Memory, Recall, Slot
from memory.models.core_memory import By
from memory.recall.candidates import MemoryFilter
from memory.recall.origins import add_holding, load_origins
from memory.recall.recall import LEARNT, recall, search
from memory.recall.traits import terms
from memory.store import keep_earlier, keep_fact, link_sources, note_retraction, revise
from memory.threads import open_if_dated
from text.dates import name_day
from text.strings import folded, has_words

MAX_SEARCHES = 3  # in one turn, or in one waking
NEAR_LIKENESS = 0.25  # of memories that `forget` may mean; the person chooses among them
NOT_SHOWN = (
    "Not kept, for it names what was not shown to you: {text} Keep only what was told, in the same words."
)
PROPOSED = "Nothing is forgotten yet: they are shown now what would be, and decide themselves."


class Remember(Tool):
    """Keep one fact in long-term memory, when the person asks you to remember it or says that what you kept is wrong."""

    name = "remember"
    writes = True
    under_way = _("%(name)s is keeping this in memory")
    done = _("kept something in memory")

    text: str = Field(min_length=1, max_length=2000, description="The fact, as one plain sentence.")
    old: str = Field(
        "",
        max_length=2000,
        validation_alias=AliasChoices("old", "memory"),
        description="Words of the kept one that it corrects.",
    )
    slot: str = Field("", description="A short name, to keep it always in mind: 200 characters.")

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        if not has_words(self.text):
            raise ToolError("text: is empty")
        if not Shown(context).holds_names(self.text):
            raise ToolError(NOT_SHOWN.format(text=self.text))
        if self.slot or self.old.strip():
            return self._replace(context, now)
        companion = context.companion
        sources = find_sources(context, self.text)
        # The call may be a repetition, if the connection was lost while the first one committed.
        known = Memory.objects.of(companion.pk).open().learnt().filter(is_private=False)
        memory = known.same_text(self.text).defer("entry").first()
        if memory:
            link_sources(memory, sources)
        else:
            memory = keep_fact(companion.pk, self.text, now, now, sources, zone=companion.user.zone)
            open_if_dated(memory, now, companion.user.zone)
        context.shown_ids.add(memory.pk)
        return {"remembered": memory.text}

    def _replace(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        """Set the slot, and replace what has the old words: a fact, a slot, or one of each.

        Raise ToolError unless the person said so in this session.
        """
        slots = [
            slot
            for slot in context.companion.slots.all()
            if _contains_all(f"{slot.name}: {slot.text}", self.old)
        ]
        found = _find_learnt(context, self.old, now)
        if slots or self.slot:  # then what only has the most of the words is not what is meant
            found = [memory for memory in found if _contains_all(memory.text, self.old)]
        refuse_several([memory.text for memory in found])
        refuse_several([slot.text for slot in slots])
        name = self.slot or (slots[0].name if slots else "")
        if not name and not found:
            raise ToolError(
                "Nothing that you kept has these words. Call again without them to keep it as new."
            )
        replaced = {}
        for old in found:
            check_new_text(context, old.text, self.text)
            new = revise(old, self.text, now, find_sources(context, self.text), context.companion.user.zone)
            note_retraction(old, context.reply_id, now)
            open_if_dated(new, now, context.companion.user.zone)
            context.shown_ids.update({old.pk, new.pk})
            replaced = {"revised": old.text, "remembered": new.text}
        for slot in slots:
            if slot.name != name.strip():
                _keep_past(context, slot, self.text, now)
                delete_slot(slot.companion_id, slot.name, by=By.COMPANION)
                replaced["revised"] = slot.text
        return replaced | (_set_slot(context, name, self.text, now) if name else {})


class Forget(Tool):
    """Propose to forget what the person asks you to forget. They confirm it themselves: it is not forgotten yet."""

    name = "forget"
    writes = True
    in_wakings = False
    under_way = _("%(name)s is looking for what to forget")
    done = _("let a memory go")

    words: str = Field(
        min_length=1,
        max_length=500,
        validation_alias=AliasChoices("words", "what", "text"),
        description="In their words: a plain sentence or a name.",
    )

    _near: list[UUID] = PrivateAttr(default_factory=list)

    def prepare(self, context: ToolContext, now: datetime) -> None:
        companion = context.companion
        [alike] = find_alike(
            companion.pk,
            [self.words],
            now=now,
            zone=companion.user.zone,
            payer=context.payer,
            names=companion.names,
        )
        self._near = [memory.pk for memory, likeness in alike if likeness >= NEAR_LIKENESS]

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        request = check_letting_go(context, self.words)
        assert context.reply_id  # noqa: S101 (it is not offered in wakings)
        proposed = propose(context.companion, context.reply_id, [self.words, request], now, self._near)
        if not proposed:
            raise ToolError(
                "Nothing is kept in these words. Ask the person for the words in which it was told."
            )
        return {"proposed": self.words, "state": PROPOSED}


class RecallMemories(Tool):
    """Search long-term memory when what is already given does not answer the person."""

    name = "recall"
    asks_model = True
    under_way = _("%(name)s is looking through what it remembers")
    done = _("looked through what it remembers")

    words: str = Field(
        min_length=1,
        max_length=2000,
        validation_alias=AliasChoices("words", "cue", "text"),
        description="What to look for, with other words for it.",
    )
    count: int = Field(5, ge=1, le=20, description="How many at most.")

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        if _count_searches(context) >= MAX_SEARCHES:
            raise ToolError(
                f"You have searched {MAX_SEARCHES} times in this turn. Answer with what you have."
            )
        companion, zone = context.companion, context.companion.user.zone
        vector = embed_cue(self.words, context.payer, companion.names)
        began = perf_counter()
        found = recall(
            companion.pk,
            self.words,
            self.count,
            now=now,
            zone=zone,
            vector=vector,
            names=companion.names,
            policy=companion.policy,
            mood=context.mood,
            filters=MemoryFilter(leaving_out=[context.message.pk] if context.message else []),
        )
        today = now.astimezone(zone).date()
        origins = load_origins(companion.pk, [each.memory for each in found])
        found = add_holding(companion.pk, found, origins)[: self.count]
        entries = [
            {
                "when": name_day(memory.happened_at.astimezone(zone).date(), today),
                "what": describe_memory(memory, companion, origins),
                "text": memory.text,
            }
            for memory in (each.memory for each in found)
        ]
        given = take_fitting(entries, count_tokens_left(context))
        record_shown(context, found[: len(given)], self.words, now, began, policy=companion.recall_policy)
        return {"remembered": given}


def _set_slot(context: ToolContext, name: str, text: str, now: datetime) -> dict[str, Any]:
    """Set the slot, and keep its former text as a past memory.

    Raise ToolError if the text differs from the former one and the person did not tell it in this session.
    """
    sources = find_sources(context, text)
    earlier = context.companion.slots.filter(name=name.strip()).first()
    if earlier and earlier.text != text:
        _keep_past(context, earlier, text, now)
    slot = set_slot(context.companion.pk, name, text, by=By.COMPANION, now=now, source_ids=sources)
    return {"slot": slot.name, "remembered": slot.text}


def _keep_past(context: ToolContext, slot: Slot, text: str, now: datetime) -> None:
    """Keep the slot's text as a past memory; raise ToolError if the person did not tell the new text in this session."""
    check_new_text(context, f"{slot.name}: {slot.text}", text)
    past = keep_earlier(slot, now, context.companion.user.zone)
    note_retraction(past, context.reply_id, now, slot=slot.name)


def _contains_all(text: str, words: str) -> bool:
    """Return whether the text has all of these words, of which there is at least one."""
    wanted = frozenset(terms(words))
    return bool(wanted) and wanted <= {*terms(text)}


def _find_learnt(context: ToolContext, words: str, now: datetime) -> list[Memory]:
    """Return the learnt memories that have these words, or else the most of them; only those of this text, if any."""
    if not words.strip():
        return []
    companion = context.companion
    ids = search(companion.pk, words, MemoryFilter(kinds=LEARNT), now, companion.user.zone)
    found = list(Memory.objects.of(companion.pk).visible_to_models().filter(pk__in=ids).newest(MAX_NAMED))
    return [memory for memory in found if folded(memory.text.strip()) == folded(words.strip())] or found


def _count_searches(context: ToolContext) -> int:
    if context.waking:
        return sum(step["name"] == "recall" for step in context.waking.steps)
    mine = Recall.objects.filter(companion_id=context.companion.pk, reply=context.reply_id, by=Recall.By.TOOL)
    return mine.exclude(policy="").count()
