"""The answer about a batch: the session's summary so far, and what is to be kept."""

import re
from typing import Any

from providers.rehearsal.structured.learning import memories, said_by
from providers.rehearsal.structured.reading import Material
from providers.rehearsal.structured.sentences import Sentence, sentences, shortened

MOST_CHARACTERS = 1500
MOST_NEW = 8
ENTRY = re.compile(r"[^”]+”[.。]?|[^”.!?。！？\n]+[.!?。！？]*", re.DOTALL)


def answer(material: Material) -> dict[str, Any]:
    """The digest, in the form that is asked for."""
    return {"summary": summary(material), "memories": memories(material)}


def summary(material: Material) -> str:
    """What the earlier summary says and the most telling of what is new; the oldest goes where it grows too long."""
    entries = earlier(material) + [_told(sentence) for sentence in most_telling(material, MOST_NEW)]
    entries = list(dict.fromkeys(entries))
    while len(entries) > 1 and sum(map(len, entries)) + len(entries) > MOST_CHARACTERS:
        entries.pop(0)
    return "\n".join(entries)[:MOST_CHARACTERS] or "…"


def earlier(material: Material) -> list[str]:
    """The sentences of the earlier summary."""
    return [entry.strip() for entry in ENTRY.findall(material.summary) if entry.strip()]


def most_telling(material: Material, most: int) -> list[Sentence]:
    """The sentences that tell most, one a line, in the order of the talk."""
    best = [max(said, key=lambda one: one.weight) for line in material.said if (said := sentences(line))]
    ranked = sorted(best, key=lambda one: (-one.weight * (1.0 if one.line.is_user else 0.7), one.line.number))
    return sorted(ranked[:most], key=lambda one: one.line.number)


def _told(sentence: Sentence) -> str:
    return said_by(sentence.line.name, shortened(sentence.text, 160))
