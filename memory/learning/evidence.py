"""What stops an entry or changes its verdict, whatever the model says. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory.learning.answers import Learnt, Sentence
from memory.learning.secrets import holds_secret
from memory.learning.subjects import is_echo
from memory.learning.talk import Line, Talk
from text.storable import folded


@dataclass(frozen=True, slots=True)
class Quote:
    """What stands in a line, as it stands there but for its blanks."""

    line: Line
    text: str


@dataclass(frozen=True, slots=True)
class Supported:
    """An entry with the quotes that hold, and all lines that it names: what it comes from."""

    learnt: Learnt
    quotes: Sequence[Quote]
    lines: Sequence[Line]

    @property
    def tellings(self) -> list[Line]:
        """The lines that tell it: where the user does, the companion's "I see, …" is no second one."""
        lines = list({quote.line.message_id: quote.line for quote in self.quotes}.values())
        return [line for line in lines if line.speaker == "user"] or lines

    @property
    def is_users(self) -> bool:
        """Whether the user tells it."""
        return self.tellings[0].speaker == "user"


@dataclass(frozen=True, slots=True)
class Stopped:
    """An entry that is not kept, and why."""

    learnt: Learnt
    reason: str


def supported(
    learnt: Learnt, talk: Talk, names: Collection[str], told: Collection[str] = ()
) -> Supported | Stopped:
    """The entry with what holds of its sources, or why it is stopped; `told` are secrets that stand in the talk.

    Reasons: no_such_line, secret, no_quote (none stands in its lines), echo (a line only repeats what it was given).
    """
    lines = [talk[number] for number in dict.fromkeys(learnt.sources) if 1 <= number <= len(talk.lines)]
    if not lines:
        return Stopped(learnt, "no_such_line")
    if any(holds_secret(text, told) for text in (learnt.text, *learnt.quotes)):
        return Stopped(learnt, "secret")
    found = [quote for text in learnt.quotes if (quote := _standing(text, lines))]
    if not found:
        return Stopped(learnt, "no_quote")
    own = [quote for quote in found if not is_echo(quote.line, quote.text, learnt.text, names)]
    if not own:
        return Stopped(learnt, "echo")
    echoes = {quote.line.message_id for quote in found} - {quote.line.message_id for quote in own}
    return Supported(learnt, own, [line for line in lines if line.message_id not in echoes])


def _standing(text: str, lines: Sequence[Line]) -> Quote | None:
    """The quote in the first of the lines that it stands in, word for word."""
    wanted = squeezed(text)
    line = next((line for line in lines if wanted and wanted in squeezed(line.text)), None)
    return Quote(line, wanted) if line else None


def squeezed(text: str) -> str:
    """The text with single blanks, and plain apostrophes: a model writes them as it likes."""
    return " ".join(text.replace("’", "'").split())


def is_same_text(one: str, other: str) -> bool:
    """Whether two texts say the same word for word, in capitals or not."""
    return folded(squeezed(one)).rstrip(".!。！") == folded(squeezed(other)).rstrip(".!。！")


def without_echoes(sentences: Sequence[Sentence], talk: Talk, names: Collection[str]) -> list[Sentence]:
    """The sentences without those sources in which the companion only repeats what it was given to remember."""
    return [one.model_copy(update={"sources": _own(one, talk, names)}) for one in sentences]


def _own(sentence: Sentence, talk: Talk, names: Collection[str]) -> list[int]:
    numbers = [number for number in sentence.sources if 1 <= number <= len(talk.lines)]
    return [one for one in numbers if not is_echo(talk[one], sentence.text, sentence.text, names)]
