"""The person's own words in this session: checks that they asked for something in them, and the sentence on a matter."""

from collections.abc import Iterable, Iterator
from functools import cache

import regex

from companions.models import Companion, Message
from companions.tools.tool import ToolContext, ToolError
from memory.forgotten import read_words
from memory.language import HAN, groups_of, pattern_of, words_of
from memory.recall.traits import DENIAL, is_question, tells_something, terms
from text.strings import folded, split_sentences

MAX_MESSAGES = 5  # of the person's, including the one being answered
MAX_MEANT = 2  # messages that "forget that" may refer to
SCRIPTS_WITHOUT_SPACES = regex.compile(rf"{HAN.pattern}|[\p{{Hiragana}}\p{{Katakana}}\p{{Hangul}}\p{{Thai}}]")
RELATIONS = {folded(word): relation for relation, words in groups_of("kin").items() for word in words}
KIN_WORD = regex.compile(
    "|".join(
        regex.escape(word) if HAN.search(word) else rf"\b{regex.escape(word)}\b"
        for word in sorted(RELATIONS, key=len, reverse=True)
    )
)
POINTS_BACK = pattern_of("points_back")
NOT_ASKED = (
    "{name} has not asked for this in this talk; ask them first. "
    "They can also change and delete all that you keep on the page of your memories."
)


def check_letting_go(context: ToolContext, text: str) -> str:
    """Return the words with which the person asked in this session to let go of what the text says, or "".

    Raise `ToolError` unless one of their messages has a word for letting go and shares a topic term with the text. If
    the message names nothing itself ("forget that"), one of the two messages before it must share a term; then the
    returned text is empty.
    """
    wanted = _find_topic_terms(context, text)
    for words, before in _find_own_words(context):
        bare, asks = _strip_request(words)
        named = _find_topic_terms(context, bare) or _find_topic_terms(context, *before)
        if asks and wanted & named:
            return bare if _find_topic_terms(context, bare) else ""
    raise ToolError(_write_refusal(context))


def check_new_text(context: ToolContext, old: str, new: str) -> None:
    """Raise `ToolError` unless the person told in this session what the new text says.

    At least half of the new topic terms must be in their messages. If there are none, one of their messages that is not
    a question must share a topic term with what changed; if the new text has more denials, that message must also deny
    something or let it go.
    """
    before, after = _find_topic_terms(context, old), _find_topic_terms(context, new)
    theirs = [words for words, _before in _find_own_words(context)]
    if added := after - before:
        is_told = 2 * len(added & _find_topic_terms(context, *theirs)) >= len(added)
    else:
        denies = _count_denials(new) > _count_denials(old)
        is_told = any(
            _find_topic_terms(context, text) & ((before - after) or before)
            and not is_question(text)
            and (not denies or _count_denials(text) or _strip_request(text)[1])
            for text in theirs
        )
    if not is_told:
        raise ToolError(f"{_write_refusal(context)} If they have, keep it in their own words.")


def find_sentence(texts: Iterable[str], text: str, companion: Companion) -> str:
    """Return the sentence of `texts` that shares most telling words with the text; empty if none shares any."""
    names = {term for name in companion.names.values() for term in terms(name)}
    wanted = {term for term in terms(text) if tells_something(term)} - names
    sentences = [sentence for said in texts for sentence in split_sentences(said)]
    best = max(sentences, key=lambda sentence: len(wanted & {*terms(sentence)}), default="")
    return best if wanted & {*terms(best)} else ""


def _write_refusal(context: ToolContext) -> str:
    return NOT_ASKED.format(name=context.companion.user.name or "The person")


def _find_own_words(context: ToolContext) -> Iterator[tuple[str, list[str]]]:
    """Yield the person's last messages in this session, newest first, each with the texts before it; none in a waking.

    An assent without a topic of its own ("yes") is replaced by the question that it answers.
    """
    said = [*context.history, context.message] if context.message else []
    places = [place for place, message in enumerate(said) if message.role == Message.Role.USER]
    for place in reversed(places[-MAX_MESSAGES:]):
        words = said[place].text
        before = [message.text for message in said[max(place - MAX_MEANT, 0) : place]]
        is_assent = words.strip() and not _count_denials(words) and not _find_topic_terms(context, words)
        yield (before[-1] if is_assent and before and is_question(before[-1]) else words), before


def _find_topic_terms(context: ToolContext, *texts: str) -> frozenset[str]:
    """Return the terms that say what the texts are about, without the names of person and companion.

    Words for the same relative are one term: what is said of "my dad" is kept as of "her father".
    """
    names = context.companion.names.values()
    told = (KIN_WORD.sub(lambda match: f" {RELATIONS[match[0]]} ", folded(text)) for text in texts)
    return frozenset(word for text in told for word in read_words(text, names))


def _count_denials(text: str) -> int:
    return len(DENIAL.findall(folded(text)))


def _strip_request(text: str) -> tuple[str, bool]:
    """Return the text, folded, without its words for letting go of something or keeping it, and whether it has any of
    the former. If it then only points back ("刚才说的那件事"), the returned text is empty.
    """
    bare, count = _match_words("lets_go").subn(" ", _match_words("holds_on").sub(" ", folded(text)))
    return "" if POINTS_BACK.fullmatch(bare) else bare, count > 0


@cache
def _match_words(key: str) -> "regex.Pattern[str]":
    """Return a pattern of words that begin with a listed word or, in scripts without spaces, that contain one."""
    loose: list[str] = []
    words: list[str] = []
    for word in words_of(key):
        listed = folded(word)
        (loose if SCRIPTS_WITHOUT_SPACES.search(listed) else words).append(regex.escape(listed))
    return regex.compile(rf"{'|'.join(loose)}|\b(?:{'|'.join(words)})[\p{{L}}\p{{M}}]*")
