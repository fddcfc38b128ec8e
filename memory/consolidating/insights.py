"""Insights: what several memories tell together, kept with links to each of them."""

from collections.abc import Collection, Sequence
from uuid import UUID

from memory.consolidating.answers import Insight
from memory.consolidating.work import Work, link, sources_of
from memory.keeping import entry_of, nudge
from memory.learning.grounding import stands_on
from memory.learning.guards import is_same_text
from memory.learning.talk import Line
from memory.models import Change, Memory
from memory.quoting import one_line

Drawn = tuple[str, frozenset[UUID]]  # its text, and what it was drawn from

LEAST = 2  # memories that are no insights themselves: what was drawn is not drawn from again and again
CONFIDENCE = 0.6


def draw(work: Work, answered: Sequence[Insight]) -> None:
    """Keep those insights that stand on two memories or more, name nothing that those do not, and are new."""
    earlier = _earlier(work)
    for one in answered:
        found = filter(None, map(work.memory, dict.fromkeys(one.drawn_from)))
        drawn_from = list({memory.pk: memory for memory in found}.values())
        text = one_line(one.text)
        if text and _may_be_drawn(work, text, drawn_from, earlier):
            earlier.append((text, frozenset(memory.pk for memory in drawn_from)))
            _keep(work, text, one.importance, drawn_from)


def _may_be_drawn(work: Work, text: str, drawn_from: Sequence[Memory], earlier: Collection[Drawn]) -> bool:
    own = [one for one in drawn_from if one.kind != Memory.Kind.INSIGHT]
    if len(own) < LEAST or any(is_same_text(text, one.text) for one in work.memories):
        return False
    ids = frozenset(one.pk for one in drawn_from)
    if any(is_same_text(text, said) or ids == of for said, of in earlier):
        return False
    return _is_grounded(work, text, drawn_from)


def _is_grounded(work: Work, text: str, drawn_from: Sequence[Memory]) -> bool:
    """Whether each name, number and day in the text stands in what it is drawn from, and no secret does."""
    lines = [
        Line(one.pk, one.speaker, "", one.text, one.happened_at.astimezone(work.zone)) for one in drawn_from
    ]
    return stands_on(text, lines, "", work.names.values())


def _earlier(work: Work) -> list[Drawn]:
    """The insights that were ever drawn, closed ones too: what the person has let go is not drawn anew."""
    mine = Memory.objects.of(work.night.companion_id).filter(kind=Memory.Kind.INSIGHT)
    return [
        (one.text, frozenset(memory.pk for memory in one.drawn_from.all()))
        for one in mine.defer("entry").prefetch_related("drawn_from")
    ]


def _keep(work: Work, text: str, importance: int, drawn_from: Sequence[Memory]) -> None:
    insight = Memory.objects.create(
        companion_id=work.night.companion_id,
        kind=Memory.Kind.INSIGHT,
        text=text,
        happened_at=work.now,
        learnt_at=work.now,
        call_id=work.call_id,
        importance=importance,
        confidence=CONFIDENCE,
        entry=entry_of(text, "", work.now, work.zone),
    )
    insight.drawn_from.set(drawn_from)
    link(insight, sources_of(insight.companion_id, drawn_from))
    work.note(Change.Kind.INSIGHT, insight, drawn_from, {})
    nudge(insight.companion_id)
