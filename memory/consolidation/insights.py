"""Insights: which of those that a model draws may be kept, by rules, and what a second reading is asked about them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from uuid import UUID

from memory.consolidation.request import Insight
from memory.learning.requests import Drafted
from memory.learning.rules.evidence import is_same_text
from memory.learning.rules.grounding import is_grounded
from memory.learning.talk import Line
from memory.learning.verification import make_key
from memory.models import Memory
from memory.recall.query import Names
from text.strings import one_line

MIN_SOURCES = 2  # memories that are not insights themselves, so that insights do not feed on insights


@dataclass(frozen=True, slots=True)
class Drawn:
    """An insight that rules allow, with the memories that it is drawn from; `key` identifies it within its answer."""

    key: str
    text: str
    importance: int
    memories: Sequence[Memory]

    @property
    def drafted(self) -> Drafted:
        """The insight in the form that a second reading is asked about."""
        return Drafted(self.key, "insight", self.text, (), [memory.text for memory in self.memories])


def select_insights(
    companion_id: UUID,
    answered: Sequence[Insight],
    find: Callable[[int], Memory | None],
    shown: Sequence[Memory],
    zone: tzinfo,
    names: Names,
) -> Iterator[Drawn]:
    """Yield the insights that rest on at least two memories (besides insights), name nothing else, and are new.

    `find` returns the memory with a number; `shown` are all memories that the model saw. An insight is not new if it
    says what one of these says, or if one with its text or from the same memories was ever drawn before, even if that
    is closed now: what the person has discarded is not drawn again.
    """
    if not answered:
        return
    mine = Memory.objects.of(companion_id).filter(kind=Memory.Kind.INSIGHT)
    earlier = [
        (insight.text, {memory.pk for memory in insight.drawn_from.all()})
        for insight in mine.defer("entry").prefetch_related("drawn_from")
    ]
    for place, insight in enumerate(answered):
        memories = list(
            {memory.pk: memory for memory in filter(None, map(find, insight.drawn_from))}.values()
        )
        text, ids = one_line(insight.text), {memory.pk for memory in memories}
        is_new = not any(is_same_text(text, told) or ids == drawn for told, drawn in earlier)
        is_said = any(is_same_text(text, memory.text) for memory in shown)
        if text and is_new and not is_said and _rests_on(text, memories, zone, names):
            earlier.append((text, ids))
            yield Drawn(make_key("insight", place), text, insight.importance, memories)


def _rests_on(text: str, memories: Sequence[Memory], zone: tzinfo, names: Names) -> bool:
    own = [memory for memory in memories if memory.kind != Memory.Kind.INSIGHT]
    lines = [
        Line(memory.pk, memory.speaker, "", memory.text, memory.happened_at.astimezone(zone))
        for memory in memories
    ]
    return len(own) >= MIN_SOURCES and is_grounded(text, lines, "", names.values())
