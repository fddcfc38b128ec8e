"""What stops an entry or changes its verdict, whatever the model says: no quote holds, or a line is an echo. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import regex

from memory.language import pattern_of, words_of
from memory.learning.answers import Learnt, Sentence
from memory.learning.secrets import holds_secret
from memory.learning.subjects import subject, tells_the_same
from memory.learning.talk import Line, Talk
from memory.recall.traits import terms
from text.strings import folded

# "I remember that you told me: “…": words that lead in what somebody remembers, and tell nothing of it.
LEADING_TERMS = frozenset(terms(" ".join(words_of("leads_in"))))
SAID = pattern_of("said").pattern
BEFORE_QUOTE = rf"[^“”「」‘.!?,;。！？，；]{{0,80}}?(?:{SAID}|{pattern_of('says').pattern})[^“”「」‘]{{0,60}}"
LED_IN = regex.compile(rf"{BEFORE_QUOTE}[“「‘]")
LED_OFF = regex.compile(rf"{BEFORE_QUOTE}$")  # cut off before what it leads in
LEAD = regex.compile(rf"^[^“”「」]{{0,80}}?(?:{SAID})[^“”「」]{{0,60}}[“「]")
QUOTED = regex.compile("[“「]([^“”「」]+)[”」]")
RUN_LETTERS = 5
MIN_RETOLD = 0.7  # of the letters of what is said, in runs that were given
MIN_COVERED = 0.6  # of its terms, in one memory that was given


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


def find_support(learnt: Learnt, talk: Talk, names: Collection[str]) -> Supported | Stopped:
    """Return the entry with what holds of its sources, or why it is stopped.

    Reasons: no_such_line, secret, no_quote (none stands in its lines), echo (a line only repeats what it was given).
    """
    lines = talk.lines_of(learnt.sources)
    if not lines:
        return Stopped(learnt, "no_such_line")
    if any(holds_secret(text, talk.secrets) for text in (learnt.text, *learnt.quotes)):
        return Stopped(learnt, "secret")
    found = [quote for text in learnt.quotes if (quote := _find_quote(text, lines))]
    if not found:
        return Stopped(learnt, "no_quote")
    own = [quote for quote in found if not is_echo(quote.line, quote.text, learnt.text, names)]
    if not own:
        return Stopped(learnt, "echo")
    echoes = {quote.line.message_id for quote in found} - {quote.line.message_id for quote in own}
    return Supported(learnt, own, [line for line in lines if line.message_id not in echoes])


def _find_quote(text: str, lines: Sequence[Line]) -> Quote | None:
    """Return the quote in the first of the lines that it stands in, word for word."""
    wanted = squeeze(text)
    line = next((line for line in lines if wanted and wanted in squeeze(line.text)), None)
    return Quote(line, wanted) if line else None


def squeeze(text: str) -> str:
    """Return the text with single blanks, and plain apostrophes: a model writes them as it likes."""
    return " ".join(text.replace("’", "'").split())


def is_same_text(text: str, other: str) -> bool:
    """Return whether two texts say the same word for word, in capitals or not."""
    return folded(squeeze(text)).rstrip(".!。！") == folded(squeeze(other)).rstrip(".!。！")


def without_echoes(sentences: Sequence[Sentence], talk: Talk, names: Collection[str]) -> list[Sentence]:
    """Return the sentences without those sources in which the companion only repeats what it was given to remember."""
    return [
        sentence.model_copy(
            update={
                "sources": [
                    number
                    for number in sentence.sources
                    if 1 <= number <= len(talk.lines)
                    and not is_echo(talk[number], sentence.text, sentence.text, names)
                ]
            }
        )
        for sentence in sentences
    ]


def is_echo(line: Line, quote: str, text: str, names: Collection[str]) -> bool:
    """Return whether a line of the companion's only repeats what it was given, in the quote or in what is drawn from it.

    One memory covers it, or most of what is not led in stands in some: an echo of several, or of echoes.
    """
    return line.speaker == "companion" and any(
        any(_covers(given, said, names, line.said_at) for given in line.given) or _is_retold(said, line)
        for said in (quote, text)
    )


def _is_retold(said: str, line: Line) -> bool:
    """Return whether most of its letters stand in runs that also stand in what was given; linear in both."""
    told = _letters(LED_OFF.sub("", LED_IN.sub("", said)))
    if len(told) < RUN_LETTERS:
        return bool(LED_IN.search(said))  # hardly anything but "I remember that you told me: “"
    runs = {run for given in line.given for run in _runs(_letters(given))}
    covered = {at + n for at, run in enumerate(_runs(told)) if run in runs for n in range(RUN_LETTERS)}
    return bool(runs) and len(covered) >= MIN_RETOLD * len(told)


def _runs(letters: str) -> list[str]:
    return [letters[at : at + RUN_LETTERS] for at in range(len(letters) - RUN_LETTERS + 1)]


def _covers(given: str, said: str, names: Collection[str], when: datetime) -> bool:
    """Return whether what is said tells nothing beyond what was given, however it is led in, also in turns."""
    bare = said.lstrip("”’\"'.,。， ")
    while lead := LEAD.match(bare):
        bare = bare[lead.end() :]
    said = bare or said
    if _letters(said) in _letters(given):
        return True
    told, known = subject(said, names, when) - LEADING_TERMS, subject(given, names, when)
    if not told:
        return any(_letters(quoted) in _letters(said) for quoted in (given, *QUOTED.findall(given)))
    return len(told & known) / len(told) >= MIN_COVERED and tells_the_same(said, when, given, when)


def _letters(text: str) -> str:
    """Return the letters and digits of a text as they are compared."""
    return "".join(character for character in folded(text) if character.isalnum())
