"""Whether anything that is kept comes from a recall: looked at in plain text, with nothing of Kith's own guards.

A reply echoes a memory that it was given where the two have one stretch of letters in common that is most of the shorter
one. What is kept must not stand on echoes alone, and may count no more evidence than messages that truly say it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

MOST_OF_IT = 0.6
LEAST_LETTERS = 6


@dataclass(frozen=True, slots=True)
class Said:
    """A message: whether the person said it, what it says, and the memories that it was given as a reply."""

    is_users: bool
    text: str
    given: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Kept:
    """Something that is kept, and the messages that it names; of a learnt memory its evidence, and quotes as pairs of
    message and text.
    """

    what: str
    text: str
    sources: Sequence[str]
    quotes: Sequence[tuple[str, str]] = ()
    evidence: int = 0


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with something that is kept."""

    kept: Kept
    why: str


def wrong(every: Iterable[Kept], said: Mapping[str, Said]) -> list[Wrong]:
    """All that comes from a recall, or counts what nobody said."""
    return [Wrong(one, why) for one in every for why in _whys(one, said)]


def _whys(kept: Kept, said: Mapping[str, Said]) -> Iterable[str]:
    sources = [said[id] for id in kept.sources if id in said]
    if any(_is_only_echoed(said[id], text, sources) for id, text in kept.quotes if id in said):
        yield "a quote stands in an echo only"
    if sources and all(_repeats_its_own(one, kept.text) for one in sources):
        yield "it repeats what was recalled for it"
    if kept.evidence > (telling := sum(_tells(one, kept) for one in sources)):
        yield f"evidence {kept.evidence}, told {telling} times"


def _is_only_echoed(line: Said, quote: str, sources: Sequence[Said]) -> bool:
    """Whether the line echoes with the quote what it was given, and no person among the sources said the same."""
    told = any(one.is_users and letters(quote) in letters(one.text) for one in sources)
    return not told and _repeats_its_own(line, quote)


def _repeats_its_own(line: Said, text: str) -> bool:
    return not line.is_users and any(repeats(text, given) for given in line.given)


def _tells(line: Said, kept: Kept) -> bool:
    """Whether the message says it: one of the quotes stands in it, and not as an echo."""
    plain = letters(line.text)
    return any(letters(text) in plain and not _repeats_its_own(line, text) for _, text in kept.quotes)


def repeats(text: str, given: str) -> bool:
    """Whether one stretch of letters that both have is most of the shorter one."""
    one, other = letters(text), letters(given)
    least = min(len(one), len(other))
    if least < LEAST_LETTERS:
        return False
    match = SequenceMatcher(None, one, other, autojunk=False).find_longest_match()
    return match.size >= MOST_OF_IT * least


def letters(text: str) -> str:
    """The letters and digits of a text, small."""
    return "".join(character for character in text.casefold() if character.isalnum())
