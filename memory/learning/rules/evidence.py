"""Evidence: what stops an entry, whatever the model says, e.g. that no quote holds or that a line is an echo. Pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import regex

from memory.language import pattern_of, words_of
from memory.learning.answers import Learnt, Sentence
from memory.learning.rules.grounding import follows_from, measure_novelty, names_in, near_lines
from memory.learning.rules.secrets import holds_secret
from memory.learning.rules.sincerity import find_insincerity, find_sentence
from memory.learning.rules.subjects import is_own, subject, tells_of_another, tells_the_same
from memory.learning.talk import Line, Talk
from memory.models import Memory
from memory.recall.query import Names
from memory.recall.traits import FIRST_PERSON, terms
from text.strings import cut_sentences, folded, keep_letters, squeeze

# Words that introduce what somebody remembers ("I remember that you told me: “…") and tell nothing of it.
LEADING_TERMS = frozenset(terms(" ".join(words_of("leads_in"))))
SAID = pattern_of("said").pattern
BEFORE_QUOTE = rf"[^“”「」‘.!?,;。！？，；]{{0,80}}?(?:{SAID}|{pattern_of('says').pattern})[^“”「」‘]{{0,60}}"
LED_IN = regex.compile(rf"{BEFORE_QUOTE}[“「‘]")
LED_OFF = regex.compile(rf"{BEFORE_QUOTE}$")  # cut off before the quotation that it introduces
LEAD = regex.compile(rf"^[^“”「」]{{0,80}}?(?:{SAID})[^“”「」]{{0,60}}[“「]")
QUOTED = regex.compile("[“「]([^“”「」]+)[”」]")
HUMAN_LIFE, ASSENTS = pattern_of("human_life"), pattern_of("assents")
GENERALISES, HAPPENS_OFTEN = pattern_of("generalises"), pattern_of("happens_often")
FACT_LINES = 2  # around those of a fact that may support it too: question and answer make one
DOUBTFUL_NOVELTY = 0.5  # if so much of what a text tells is not in its lines, it is unsure
DOUBTFUL_CONFIDENCE = 0.5  # and less is shown as unsure
YES = "yes"  # the word by which a second reading approves
RUN_LETTERS = 5
MIN_RETOLD = 0.7  # share of a text's letters in runs that were given, from which it is retold
MIN_MISQUOTED = 0.8  # share of a quote's terms in one sentence, from which it quotes that in other words
MIN_MISQUOTED_TERMS = 3
MIN_PARROTED_TERMS = 3
MIN_COVERED = 0.6  # share of a text's terms in one given memory, from which that covers it


@dataclass(frozen=True, slots=True)
class Quote:
    """A quote from a line, word for word except for its blanks."""

    line: Line
    text: str


@dataclass(frozen=True, slots=True)
class Supported:
    """An entry with the quotes that hold, and all the lines that it comes from.

    `doubt` is why rules that may be wrong would stop it; `is_read` is whether a second reading approves it.
    """

    learnt: Learnt
    quotes: Sequence[Quote]
    lines: Sequence[Line]
    doubt: str = ""
    is_read: bool = False

    @property
    def tellings(self) -> list[Line]:
        """The lines that tell the entry; only the user's, if there are any: the companion's "I see, …" adds nothing."""
        lines = list({quote.line.message_id: quote.line for quote in self.quotes}.values())
        return [line for line in lines if line.speaker == "user"] or lines

    @property
    def is_users(self) -> bool:
        """Whether the user tells the entry."""
        return self.tellings[0].speaker == "user"


@dataclass(frozen=True, slots=True)
class Stopped:
    """An entry that is not kept, and why."""

    learnt: Learnt
    reason: str


def find_support(
    learnt: Learnt,
    talk: Talk,
    names: Names,
    known: Sequence[Memory] = (),
    word: str | None = None,
) -> Supported | Stopped:
    """Return the entry with what holds of its sources, or why it is stopped. `known` are the memories the model was
    shown.

    `word` is what a second reading says of the entry (`memory.learning.verification`): any word but "yes" stops it, and
    "yes" lets it pass even if rules doubt it, but then as unsure, unless the doubt is "invented" or "misquoted". If the
    word is "" (nothing readable was answered) or None (nothing was asked), rules alone decide; with "" it is unsure.
    """
    weighed = weigh(learnt, talk, names, known)
    if isinstance(weighed, Stopped):
        return weighed
    if word and word != YES:
        return Stopped(learnt, word)
    if weighed.doubt and not word:
        return Stopped(learnt, weighed.doubt)
    is_unsure = word == "" or weighed.doubt not in {"", "invented", "misquoted"}
    entry = as_unsure(weighed.learnt) if is_unsure else weighed.learnt
    return replace(weighed, learnt=entry, is_read=word == YES)


def weigh(learnt: Learnt, talk: Talk, names: Names, known: Sequence[Memory]) -> Supported | Stopped:
    """Return the entry with what holds of its sources and what rules doubt in it, or why it is stopped in any case.

    Reasons to stop it: no_such_line, secret, no_quote (none stands in its lines, and none of some length in others),
    echo (its lines only repeat what their speaker was given), how it is meant if the model says not seriously,
    forgotten, not_own (the companion does not say so) and human_life (no companion has one). Doubts: how it is meant by
    rules (`find_insincerity`), not_theirs (the person does not say so of themselves), generalised and invented (it
    tells more than the lines do), misquoted (its quotes stand there in other words, or word for word in other lines).
    """
    lines = talk.lines_of(learnt.sources)
    if not lines:
        return Stopped(learnt, "no_such_line")
    if any(holds_secret(text, talk.secrets) for text in (learnt.text, *learnt.quotes)):
        return Stopped(learnt, "secret")
    found = [quote for text in learnt.quotes if (quote := _find_quote(text, lines))]
    is_misquoted = not found
    if is_misquoted and (found := _find_elsewhere(learnt.quotes, talk)):
        lines = [quote.line for quote in found]
        learnt = learnt.model_copy(update={"sources": talk.numbers_of(line.message_id for line in lines)})
    if not found:
        found = [quote for text in learnt.quotes if (quote := _find_misquoted(text, lines))]
    if not found:
        return Stopped(learnt, "no_quote")
    own = [quote for quote in found if not is_echo(quote.line, quote.text, learnt.text, names.values())]
    if not own:
        return Stopped(learnt, "echo")
    echoes = {quote.line.message_id for quote in found} - {quote.line.message_id for quote in own}
    left = [line for line in lines if line.message_id not in echoes]
    supported = Supported(learnt, own, left, doubt="misquoted" if is_misquoted else "")
    return _judge(supported, talk, names, [memory.text for memory in known])


def _judge(entry: Supported, talk: Talk, names: Names, known: Sequence[str]) -> Supported | Stopped:
    learnt, called = entry.learnt, list(names.values())
    if learnt.meant not in {"", "serious"}:
        return Stopped(learnt, learnt.meant)
    reasons = [find_insincerity(quote.text, quote.line, talk, learnt.text, called) for quote in entry.quotes]
    if all(reasons) and "forgotten" in reasons:
        return Stopped(learnt, "forgotten")
    meant = [quote for quote, reason in zip(entry.quotes, reasons, strict=True) if not reason]
    doubt = "" if meant else reasons[0]
    meant = meant or list(entry.quotes)
    own = is_own(learnt.text, names["companion"])
    theirs = [quote for quote in meant if quote.line.speaker == ("companion" if own else "user")]
    if own:
        theirs = [
            quote for quote in theirs if not is_parroted(find_sentence(quote.text, quote.line.text), talk)
        ]
    if own and HUMAN_LIFE.search(learnt.text):
        return Stopped(learnt, "human_life")
    if own and not theirs:
        return Stopped(learnt, "not_own")
    supported = replace(entry, quotes=theirs or meant)
    doubt = doubt or _find_doubt(supported, talk, called, known, own=own) or entry.doubt
    said = " ".join([*known, *called, *(line.text for line in near_lines(entry.lines, talk))])
    if measure_novelty(learnt.text, said) >= DOUBTFUL_NOVELTY:
        learnt = as_unsure(learnt)
    return replace(supported, learnt=learnt, doubt=doubt)


def _find_doubt(entry: Supported, talk: Talk, names: list[str], known: Sequence[str], *, own: bool) -> str:
    """Return what speaks against an entry whose quotes are meant, or an empty string."""
    if not own and not entry.is_users and not is_assented(entry.quotes, talk):
        return "not_theirs"
    if not own and is_about_another(entry, talk, names):
        return "not_theirs"
    if is_generalised(entry):
        return "generalised"
    return "" if follows_from(entry.learnt.text, entry.lines, talk, known, names, FACT_LINES) else "invented"


def is_meant_by_companion(text: str, lines: Sequence[Line], talk: Talk, names: Collection[str]) -> bool:
    """Return whether the companion itself says and means, in one of the lines, what a text tells of it. Judged by the
    sentence that shares most terms with the text. False if the text tells of a human life, which no companion has.
    """
    wanted = set(terms(text))
    own = [
        (len(wanted & set(terms(sentence))), sentence.strip(), line)
        for line in lines
        if line.speaker == "companion"
        for sentence in cut_sentences(squeeze(line.text))
    ]
    most = max((shared for shared, _, _ in own), default=0)
    meant = (
        not (is_parroted(sentence, talk) or find_insincerity(sentence, line, talk, text, names))
        for shared, sentence, line in own
        if shared == most
    )
    return not HUMAN_LIFE.search(text) and any(meant)


def as_unsure(learnt: Learnt) -> Learnt:
    """Return the entry with a confidence that is low enough to be shown as unsure."""
    return learnt.model_copy(update={"confidence": min(learnt.confidence, DOUBTFUL_CONFIDENCE)})


def is_assented(quotes: Sequence[Quote], talk: Talk) -> bool:
    """Return whether the user assents right after one of the quoted lines."""
    numbers = talk.numbers_of(quote.line.message_id for quote in quotes)
    following = talk.lines_of(number + 1 for number in numbers)
    return any(line.speaker == "user" and ASSENTS.search(line.text) for line in following)


def is_about_another(entry: Supported, talk: Talk, names: Collection[str]) -> bool:
    """Return whether all the quotes tell of somebody else, whom the text does not name."""
    others = names_in(" \n".join(line.text for line in talk.lines)) - {folded(name) for name in names}
    return all(
        tells_of_another(
            entry.learnt.text, find_sentence(quote.text, quote.line.text), quote.text, names, others
        )
        for quote in entry.quotes
    )


def is_generalised(entry: Supported) -> bool:
    """Return whether the text generalises ("always", "every day") and the lines do not."""
    said = " ".join(line.text for line in entry.lines)
    return bool(GENERALISES.search(entry.learnt.text)) and not HAPPENS_OFTEN.search(said)


def _find_quote(text: str, lines: Sequence[Line]) -> Quote | None:
    """Return the quote with the first of the lines that holds it word for word, or None."""
    wanted = squeeze(text)
    line = next((line for line in lines if wanted and wanted in squeeze(line.text)), None)
    return Quote(line, wanted) if line else None


def _find_elsewhere(quotes: Sequence[str], talk: Talk) -> list[Quote]:
    """Return those of the quotes that stand word for word in the talk, if they are long enough to be told apart."""
    long = [text for text in quotes if len(set(terms(text))) >= MIN_MISQUOTED_TERMS]
    return [quote for text in long if (quote := _find_quote(text, talk.lines))]


def _find_misquoted(text: str, lines: Sequence[Line]) -> Quote | None:
    """Return the sentence of the lines with the most terms of the quote, or None if none has nearly all of them."""
    wanted = set(terms(text))
    most, best = max(MIN_MISQUOTED_TERMS, MIN_MISQUOTED * len(wanted)), None
    for line in lines:
        for sentence in map(squeeze, cut_sentences(line.text)):
            held = len(wanted & set(terms(sentence)))
            if held > most or (held == most and best is None):
                most, best = held, Quote(line, sentence)
    return best


def is_same_text(text: str, other: str) -> bool:
    """Return whether two texts are the same word for word, ignoring case and a full stop or "!" at the end."""
    return folded(squeeze(text)).rstrip(".!。！") == folded(squeeze(other)).rstrip(".!。！")


def without_echoes(sentences: Sequence[Sentence], talk: Talk, names: Collection[str]) -> list[Sentence]:
    """Return the sentences without the sources in which the companion only repeats memories that it was given."""
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
    """Return whether the line is the companion's and only repeats what it was given, in the quote or in the drawn text.

    That is so if one given memory covers it, or if most of it, introductions aside, stands in any of them.
    """
    return line.speaker == "companion" and any(
        any(_covers(given, said, names, line.said_at) for given in line.given) or _is_retold(said, line)
        for said in (quote, text)
    )


def is_parroted(text: str, talk: Talk) -> bool:
    """Return whether a text in the first person stands word for word in what the user said, and was theirs first.

    Small models say of themselves what they read: "I teach chemistry in Porto." is true of the user, and not of them. A
    text of few terms may be true of both: "I am sad."
    """
    letters = keep_letters(text)
    holders = [line for line in talk.lines if letters in keep_letters(line.text)]
    first = min(holders, key=lambda line: line.said_at, default=None)
    is_users = first is not None and first.speaker == "user"
    return is_users and len(terms(text)) >= MIN_PARROTED_TERMS and bool(FIRST_PERSON.search(text))


def _is_retold(said: str, line: Line) -> bool:
    """Return whether most letters of `said` stand in runs of letters that the line was given. Linear in both."""
    told = keep_letters(LED_OFF.sub("", LED_IN.sub("", said)))
    if len(told) < RUN_LETTERS:
        return bool(LED_IN.search(said))  # hardly anything but "I remember that you told me: “"
    runs = {run for given in line.given for run in _runs(keep_letters(given))}
    covered = {at + n for at, run in enumerate(_runs(told)) if run in runs for n in range(RUN_LETTERS)}
    return bool(runs) and len(covered) >= MIN_RETOLD * len(told)


def _runs(letters: str) -> list[str]:
    return [letters[at : at + RUN_LETTERS] for at in range(len(letters) - RUN_LETTERS + 1)]


def _covers(given: str, said: str, names: Collection[str], when: datetime) -> bool:
    """Return whether `said` tells nothing beyond what was `given`, however and how often it is introduced."""
    bare = said.lstrip("”’\"'.,。， ")
    while lead := LEAD.match(bare):
        bare = bare[lead.end() :]
    said = bare or said
    if keep_letters(said) in keep_letters(given):
        return True
    told, known = subject(said, names, when) - LEADING_TERMS, subject(given, names, when)
    if not told:
        return any(keep_letters(quoted) in keep_letters(said) for quoted in (given, *QUOTED.findall(given)))
    return len(told & known) / len(told) >= MIN_COVERED and tells_the_same(said, when, given, when)
