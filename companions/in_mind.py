"""What is always in mind, as the prompt shows it: pure functions from texts to lines, within a token budget."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from companions.life.mood import Feeling, felt_now
from memory.quoting import block, one_line, quoted
from providers.tokens import beginning, estimate

TIGHT = 0.75  # a pressure above it is told, so that what matters is kept in time


@dataclass(frozen=True, slots=True)
class Named:
    """A slot, or a block with what it is for and how much it may hold."""

    name: str
    text: str
    changed_at: datetime
    description: str = ""
    most_characters: int = 0

    @property
    def line(self) -> str:
        if not self.most_characters:
            return f"- {one_line(self.name)}: {quoted(self.text)}"
        full = f"{len(self.text)} of {self.most_characters} characters"
        about = f"; {one_line(self.description)}" if self.description else ""
        return f"- {one_line(self.name)} ({full}{about}): {quoted(self.text)}"


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner state: how it feels in its own words, and what it felt as that was written."""

    text: str
    feeling: Feeling
    made_at: datetime

    def lines(self, now: datetime, tokens: int) -> list[str]:
        """The text, within so many tokens, if it has any, and what is left of the feeling by now."""
        mood = felt_now(self.feeling, self.made_at, now)
        words = f"How you feel inside, in your own words: {quoted(beginning(self.text, tokens))}"
        return [*([words] if self.text else []), f"Your mood by now: {mood.told}"]


@dataclass(frozen=True, slots=True)
class Mind:
    """What a companion has always in mind, and the scratch of its session and the pressure on its context (a share).

    `sources` are the messages that any of it comes from, and the inner state, which goes on from earlier ones.
    """

    self_concept: Sequence[str] = ()
    profile: Sequence[str] = ()
    slots: Sequence[Named] = ()
    blocks: Sequence[Named] = ()
    inner: Inner | None = None
    scratch: str = ""
    pressure: float = 0.0
    sources: frozenset[UUID] = field(default_factory=frozenset)

    @property
    def texts(self) -> list[str]:
        """Return what it says of the person and the companion, sentence by sentence and line by line."""
        lines = (
            line for one in (*self.slots, *self.blocks) for line in one.text.splitlines() if line.strip()
        )
        return [*self.self_concept, *self.profile, *lines]


NOTHING = Mind()


def always(mind: Mind, tokens: int) -> str:
    """Self-concept, profile, slots and blocks, within so many tokens; the same for the same.

    Each of the four has an equal share, and what one leaves falls to those after it. Of sentences the first stay, of
    slots and blocks those that were changed last, whole; they stand in the order of their names.
    """
    parts = []
    for n, (name, lines) in enumerate(_parts(mind)):
        kept = _first(lines, tokens // (4 - n))
        tokens -= sum(map(estimate, kept))
        kept_in_order = kept if n < 2 else sorted(kept)
        parts.append(block(name, kept_in_order))
    return "\n\n".join(filter(None, parts))


def _parts(mind: Mind) -> Iterable[tuple[str, list[str]]]:
    yield "self-concept", [f"- {quoted(one)}" for one in mind.self_concept]
    yield "user-profile", [f"- {quoted(one)}" for one in mind.profile]
    yield "slots", [one.line for one in _newest(mind.slots)]
    yield "blocks", [one.line for one in _newest(mind.blocks)]


def _newest(named: Sequence[Named]) -> list[Named]:
    return sorted(sorted(named, key=lambda one: one.name), key=lambda one: one.changed_at, reverse=True)


def _first(lines: Sequence[str], tokens: int) -> list[str]:
    """Those that fit, in their order; one that is too long makes room for the shorter ones after it."""
    kept = []
    for line in lines:
        if (needed := estimate(line)) <= tokens:
            kept.append(line)
            tokens -= needed
    return kept


def inside(mind: Mind, now: datetime, tokens: int) -> list[str]:
    """The inner state's lines, none where there is none."""
    return mind.inner.lines(now, tokens) if mind.inner else []


def of_the_session(mind: Mind, tokens: int) -> list[str]:
    """The lines that change from turn to turn: a warning where the context is nearly full, and the newest notes."""
    lines = []
    if mind.pressure > TIGHT:
        full = round(100 * min(mind.pressure, 1))
        lines.append(
            f"The context is {full} % full: the oldest talk will soon be left out. Keep what matters now, by your tools."
        )
    notes = _first([f"- {quoted(one)}" for one in reversed(mind.scratch.splitlines()) if one.strip()], tokens)
    return [*lines, "Your notes of this talk:", *reversed(notes)] if notes else lines
