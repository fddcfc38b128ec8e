"""What is remembered, as lines of a prompt: each says what it is, and on which day. Pure."""

from collections.abc import Sequence

from django.conf import settings

from companions.models import Companion
from memory.models import Memory
from memory.origins import NOWHERE, Origins
from memory.quoting import one_line, quoted
from memory.recall import Found
from providers.tokens import beginning, estimate

UNSURE = 0.6  # below it what was learnt may well be wrong
KINDS = {
    Memory.Kind.FACT: "Fact",
    Memory.Kind.PREFERENCE: "Preference",
    Memory.Kind.EVENT: "Event",
    Memory.Kind.PROMISE: "Promise",
    Memory.Kind.RELATIONSHIP: "Relationship",
    Memory.Kind.GOAL: "Goal",
    Memory.Kind.IDEA: "Idea",
    Memory.Kind.INSIGHT: "What you have come to think",
    Memory.Kind.DIARY: "From your diary",
    Memory.Kind.GIST: "From a document",
}


def remembered_tokens() -> int:
    """Return how many tokens of the context all that is remembered may take: three sixteenths."""
    most: int = settings.CONTEXT_TOKENS * 3 // 16
    return most


def write_line(found: Found, companion: Companion, origins: Origins = NOWHERE) -> str:
    """Return the memory as a line: its day in the user's zone, what it is, and its words; a long text is cut."""
    memory = found.memory
    on = memory.happened_at.astimezone(companion.user.zone)
    text = quoted(beginning(memory.text, remembered_tokens() // 4))
    return f"- [{on:%Y-%m-%d}] {describe(memory, companion, origins)}: {text}"


def describe(memory: Memory, companion: Companion, origins: Origins = NOWHERE) -> str:
    """Return what a memory is, in a few words: who said it, or that it is a fact; unsure, or no longer true."""
    words = [_what(memory, companion, origins)]
    if not memory.message_id and memory.confidence < UNSURE:
        words.append("unsure")
    if memory.closed_at or memory.pk in origins.outdated:
        words.append("partly no longer true" if memory.pk in origins.partly else "no longer true")
    return ", ".join(words)


def _what(memory: Memory, companion: Companion, origins: Origins) -> str:
    if memory.message_id or memory.kind == Memory.Kind.SAID:
        if memory.speaker == Memory.Speaker.COMPANION:
            return "You said"
        return f"{one_line(companion.user.name) or 'They'} said"
    if page := origins.pages.get(memory.pk):
        title, number = page
        return f"From the document “{one_line(title)}”, page {number}"
    return KINDS[Memory.Kind(memory.kind)]


def in_reading_order(found: Sequence[Found]) -> list[Found]:
    """Return what was learnt first, then what the person said, then the companion's own words; each best first."""
    return sorted(found, key=_place)


def _place(found: Found) -> int:
    memory = found.memory
    if memory.kind != Memory.Kind.SAID:
        return 0
    return 2 if memory.speaker == Memory.Speaker.COMPANION else 1


def choose_fitting(
    found: Sequence[Found], companion: Companion, origins: Origins, tokens: int
) -> list[Found]:
    """Return those of the found, best first, whose lines fit into so many tokens; a long one hides no shorter one."""
    kept = []
    for one in found:
        needed = estimate(write_line(one, companion, origins))
        if needed <= tokens:
            kept.append(one)
            tokens -= needed
    return kept
