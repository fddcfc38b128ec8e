"""What the person asked for in this talk, in their own words; what documents, memories and tools say counts not."""

from collections.abc import Collection, Iterator, Mapping
from functools import cache

import regex

from companions.models import Message
from companions.tools.tool import ToolContext, ToolError
from memory.language import HAN, words_of
from memory.recall.traits import DENIAL, is_question, tells_something, terms
from text.storable import folded

Words = frozenset[str]

RECENT = 5  # messages of the person, the one that is answered among them
BEFORE = 2  # messages that "forget that" may mean
SCRIPTS_WITHOUT_SPACES = regex.compile(rf"{HAN.pattern}|[\p{{Hiragana}}\p{{Katakana}}\p{{Hangul}}\p{{Thai}}]")
NOT_ASKED = (
    "{name} has not asked for this in this talk; ask them first. "
    "They can also change and delete all that you keep on the page of your memories."
)


def check_letting_go(context: ToolContext, text: str) -> None:
    """Raise `ToolError` unless the person asked in this talk to let go of what this text says.

    One of their messages says so, in a word for it, and shares a telling word with the text; where it names nothing
    itself ("forget that"), one of the two messages before it does.
    """
    wanted = _telling(context, text)
    for words, before in _own_words(context):
        bare, asks = _without_asking(words)
        named = _telling(context, bare) or _telling(context, *before)
        if asks and wanted & named:
            return
    raise ToolError(_not_asked(context))


def check_new_text(context: ToolContext, old: str, new: str) -> None:
    """Raise `ToolError` unless the person told in this talk what the new text says.

    At least half of the telling words that are new must be theirs. Where none is new, a message that is no question must
    share a telling word with what changed, and deny something or let it go where the new text denies more.
    """
    before, after = _telling(context, old), _telling(context, new)
    theirs = [words for words, _before in _own_words(context)]
    if fresh := after - before:
        is_told = 2 * len(fresh & _telling(context, *theirs)) >= len(fresh)
    else:
        denies = _denials(new) > _denials(old)
        is_told = any(
            _telling(context, text) & ((before - after) or before)
            and not is_question(text)
            and (not denies or _denials(text) or _without_asking(text)[1])
            for text in theirs
        )
    if not is_told:
        raise ToolError(_not_asked(context) + " If they have, keep it in their own words.")


def _not_asked(context: ToolContext) -> str:
    return NOT_ASKED.format(name=context.companion.user.name or "The person")


def _own_words(context: ToolContext) -> Iterator[tuple[str, list[str]]]:
    """The person's last messages in this talk, newest first, each with what was said just before it; none in a waking.

    A "yes" stands for the question that it answers.
    """
    said = [*context.history, context.message] if context.message else []
    places = [place for place, message in enumerate(said) if message.role == Message.Role.USER]
    for place in reversed(places[-RECENT:]):
        words, before = said[place].text, [one.text for one in said[max(place - BEFORE, 0) : place]]
        is_assent = words.strip() and not _denials(words) and not _telling(context, words)
        yield (before[-1] if is_assent and before and is_question(before[-1]) else words), before


def _telling(context: ToolContext, *texts: str) -> Words:
    """The terms that say what these texts are about; whose talk it is says nothing."""
    names = _names(context.companion.names)
    every = (term for text in texts for term in terms(text))
    return frozenset(term for term in every if len(term) > 1 and tells_something(term) and term not in names)


def _names(names: Mapping[str, str]) -> Words:
    return frozenset(term for name in names.values() for term in terms(name))


def _denials(text: str) -> int:
    return len(DENIAL.findall(folded(text)))


def _without_asking(text: str) -> tuple[str, bool]:
    """The text without the words that ask to let go of something, and whether it has any."""
    bare, count = _beginnings("lets_go").subn(" ", _beginnings("holds_on").sub(" ", folded(text)))
    return bare, count > 0


@cache
def _beginnings(key: str) -> "regex.Pattern[str]":
    """A pattern of words that begin so; of scripts without spaces, wherever they stand."""
    listed: Collection[str] = [folded(word) for word in words_of(key)]
    loose = [regex.escape(word) for word in listed if SCRIPTS_WITHOUT_SPACES.search(word)]
    words = [regex.escape(word) for word in listed if not SCRIPTS_WITHOUT_SPACES.search(word)]
    return regex.compile(rf"{'|'.join(loose)}|\b(?:{'|'.join(words)})[\p{{L}}\p{{M}}]*")
