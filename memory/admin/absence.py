"""Why a recall did not bring a memory into a prompt, in words for operators."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from memory.models import Memory, Recall
from memory.recall.origins import Statement
from memory.recall.traits import tells_nothing
from text.strings import keep_letters

MIN_LETTERS = 4  # fewer stand in any text
IN_PROMPT = _("it was in the prompt already")
CLOSED = _("it had been closed before")
WITHHELD = _(
    "it is private, stale or on a branch that is not chosen, which keeps it from models; since when is not noted"
)
TELLS_NOTHING = _("it only asks or makes small talk, which never comes by itself")
FITS_LESS = _("it fitted what was said less well than all that nearly came")
NOT_NOTED = _("not noted: Kith has kept such reasons only since a later version")


@dataclass(frozen=True, slots=True)
class Absence:
    """A memory that a recall did not bring into the prompt: why, in words.

    `bearing` is how much it had to do with what was said, 0 to 1, and `least` how much it needed. `repeats` are the
    memories and messages that say the same, and `line` the line of the prompt that does.
    """

    recall: Recall
    memory: Memory
    why: str | Promise
    bearing: float | None = None
    least: float | None = None
    repeats: Sequence[Model] = ()
    line: str = ""


def list_left_out(recalls: Sequence[Recall]) -> list[Absence]:
    """Return what these recalls of one companion left out, as far as it still exists; two queries at most."""
    noted = [(recall, entry) for recall in recalls for entry in recall.left_out or ()]
    things = _load_things(recalls, [entry for _recall, entry in noted])
    found = [(recall, things.get(entry["memory"]), entry) for recall, entry in noted]
    return [
        _describe(recall, memory, entry, things)
        for recall, memory, entry in found
        if isinstance(memory, Memory)
    ]


def explain_absences(memory: Memory, recalls: Sequence[Recall]) -> Iterator[Absence]:
    """Yield why each of these recalls, which did not find the memory, went without it; two queries at most."""
    entries = [
        next((entry for entry in recall.left_out or () if entry["memory"] == str(memory.pk)), None)
        for recall in recalls
    ]
    things = _load_things(recalls, [entry for entry in entries if entry])
    for recall, entry in zip(recalls, entries, strict=True):
        if entry:
            yield _describe(recall, memory, entry, things)
        elif _is_in_prompt(memory, recall):
            yield Absence(recall, memory, IN_PROMPT)
        elif memory.closed_at and memory.closed_at <= recall.at:
            yield Absence(recall, memory, CLOSED)
        elif memory.is_private or memory.is_stale or memory.is_asleep:
            yield Absence(recall, memory, WITHHELD)
        elif recall.left_out is None:
            yield Absence(recall, memory, NOT_NOTED)
        else:
            yield Absence(recall, memory, TELLS_NOTHING if tells_nothing(memory.text) else FITS_LESS)


def _load_things(recalls: Sequence[Recall], entries: Iterable[dict[str, Any]]) -> dict[str, Model]:
    """Return by id the memories and messages of the recalls' companion that the entries name."""
    ids = {id for entry in entries for id in (entry["memory"], *entry.get("repeats", ()))}
    if not ids:
        return {}
    companion = recalls[0].companion
    memories = Memory.everywhere.of(companion.pk).defer("entry").in_bulk(ids)
    messages = companion.messages(manager="everywhere").in_bulk(ids)
    return {str(id): thing for rows in (memories, messages) for id, thing in rows.items()}


def _describe(recall: Recall, memory: Memory, entry: dict[str, Any], things: dict[str, Model]) -> Absence:
    """Return the entry in words; what it repeats of what is always in mind is sought in the prompt, if that is kept."""
    reason, repeats = Recall.Omission(entry["reason"]), entry.get("repeats", ())
    is_pinned = reason == Recall.Omission.REPETITION and not repeats
    return Absence(
        recall,
        memory,
        reason.label,
        entry.get("bearing"),
        entry.get("least"),
        [things[id] for id in repeats if id in things],
        _find_line(memory, recall) if is_pinned else "",
    )


def _load_sent(recall: Recall) -> list[str]:
    """Return the texts of the messages that the recall's reply sent in its first round, if its prompts are kept."""
    first = next(iter(recall.reply.prompts.all()), None) if recall.reply else None
    return [str(message.get("content") or "") for message in first.messages] if first else []


def _is_in_prompt(memory: Memory, recall: Recall) -> bool:
    """Return whether the prompt has the memory's words, however they are quoted there."""
    words = keep_letters(memory.text)
    return len(words) >= MIN_LETTERS and words in keep_letters(" ".join(_load_sent(recall)))


def _find_line(memory: Memory, recall: Recall) -> str:
    """Return the line of the prompt that says all that the memory says, or ""."""
    said = Statement.of(memory.text)
    lines = [line for text in _load_sent(recall)[:1] for line in text.splitlines()]
    return next((line.lstrip("- ") for line in lines if said.is_within(Statement.of(line))), "")
