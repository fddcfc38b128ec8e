"""Sincerity: whether a line is meant as it says, and is no joke, irony, game, quotation, request or the like. Pure.

The model is asked how a line is meant, and is believed if it says not seriously; these rules serve beside it, for
models that do not say. The words that they look for are data (`memory.language`).
"""

from collections.abc import Collection, Sequence

import regex

from memory.language import pattern_of
from memory.learning.rules.subjects import subject
from memory.learning.talk import Line, Talk
from memory.recall.traits import is_question
from text.strings import cut_sentences, folded, split_sentences, squeeze

MIN_SHARED = 2  # terms that a text shares with a line of which it tells
NEXT_LINES = 3  # next lines of the same speaker, in which a line may be taken back
GAME_LINES = 12  # that a game or a story lasts at most, if nothing ends it
MAX_BARE_TERMS = 3  # a correction with so few terms of its own means all that was said right before
IRONY, JOKING, IMAGINED = pattern_of("irony"), pattern_of("joking"), pattern_of("imagined")
PLAYS, PLAYS_ON, PLAYS_NO_MORE = pattern_of("plays"), pattern_of("plays_on"), pattern_of("plays_no_more")
QUOTES_OTHERS, REQUESTS = pattern_of("quotes_others"), pattern_of("requests")
TELLS_BY_ASKING, CORRECTS = pattern_of("tells_by_asking"), pattern_of("corrects")
ASKS_TO_FORGET, HOLDS_ON = pattern_of("asks_to_forget"), pattern_of("asks_to_keep")
POINTS_BACK = pattern_of("points_back")
QUOTATION = regex.compile('[“「『"]([^“”「」『』"]{2,})[”」』"]')
ENDS_THERE = regex.compile(r"\s*(?:$|\p{P})")


def find_insincerity(text: str, line: Line, talk: Talk, entry: str, names: Collection[str]) -> str:
    """Return how the quote of a line is meant, or an empty string if it may be meant seriously.

    How it is meant is one of joke, irony, if, role_play, quotation, question, request, taken_back, forgotten. `entry`
    is the text that is drawn from the quote.
    """
    place = next((at for at, one in enumerate(talk.lines) if one.message_id == line.message_id), None)
    if place is None:
        return ""
    sentence = find_sentence(text, line.text)
    if is_forgotten(place, talk, f"{entry} {sentence}", names):
        return "forgotten"
    if is_in_game([(one.text, one.speaker == "user") for one in talk.lines[: place + 1]]):
        return "role_play"
    if reason := _read_sentence(sentence, text, line.text):
        return reason
    return _read_next(place, talk, entry, names)


def find_sentence(quote: str, text: str) -> str:
    """Return the sentences of the text that hold the quote, or the whole text if none does."""
    plain = squeeze(text)
    at = plain.find(quote)
    if at < 0 or not quote:
        return plain
    sentences, start = [], 0
    for sentence in cut_sentences(plain):
        if start < at + len(quote) and start + len(sentence) > at:
            sentences.append(sentence)
        start += len(sentence)
    return "".join(sentences).strip()


def _read_sentence(sentence: str, quote: str, whole: str) -> str:
    after = whole[whole.find(sentence) + len(sentence) :] if sentence in whole else ""
    if JOKING.search(sentence) or JOKING.search(after):
        return "joke"
    if IRONY.search(sentence) or (after and IRONY.match(after.strip())):
        return "irony"
    if IMAGINED.search(sentence):
        return "if"
    if any(quote in quoted for quoted in QUOTATION.findall(sentence)) or QUOTES_OTHERS.search(sentence):
        return "quotation"
    if REQUESTS.search(sentence):
        return "request"
    if is_question(sentence) and not TELLS_BY_ASKING.search(sentence):
        return "question"
    return ""


def _read_next(place: int, talk: Talk, entry: str, names: Collection[str]) -> str:
    """Return "joke" or "taken_back" if the speaker's next lines take the line back, or an empty string."""
    line = talk.lines[place]
    own = [one for one in talk.lines[place + 1 :] if one.speaker == line.speaker][:NEXT_LINES]
    told = subject(f"{entry} {line.text}", names, line.said_at)
    for distance, later in enumerate(own):
        terms = subject(later.text, names, later.said_at)
        shared, is_bare = terms & told, len(terms) <= MAX_BARE_TERMS
        is_next = distance == 0
        if JOKING.search(later.text) and (is_next or shared):
            return "joke"
        if CORRECTS.search(later.text) and (shared or (is_next and is_bare)):
            new = terms - subject(line.text, names, line.said_at)
            if not new & subject(entry, names, later.said_at):
                return "taken_back"
    return ""


def is_in_game(said: Sequence[tuple[str, bool]]) -> bool:
    """Return whether the last of the texts, each with whether it is the user's, belongs to a game or a story that the
    two make up.

    The companion's stage directions ("*smiles*") only go on with a game: many models begin each answer with one.
    """
    since: int | None = None
    for at, (text, is_users) in enumerate(said):
        is_on = since is not None and at - since <= GAME_LINES
        if PLAYS.search(text) or ((is_users or is_on) and PLAYS_ON.search(text)):
            since = at
        if since is not None and PLAYS_NO_MORE.search(text):
            since = None
    return since is not None and len(said) - 1 - since <= GAME_LINES


def is_forgotten(place: int, talk: Talk, told: str, names: Collection[str]) -> bool:
    """Return whether the user asks, in the line at `place` or later, to have forgotten what is `told` in it."""
    return any(
        at >= place and (not about or about & _words(told, names, line))
        for at, line, about in find_requests_to_forget(talk, names)
        if about or at == place or place in _lines_before(at, talk)
    )


def is_asked_to_be_forgotten(text: str, talk: Talk, names: Collection[str]) -> bool:
    """Return whether a text tells of what the user asks to have forgotten: what they name, or else just said."""
    for at, line, about in find_requests_to_forget(talk, names):
        told = _words(text, names, line)
        if about & told:
            return True
        if not about and any(
            len(told & _words(talk.lines[place].text, names, line)) >= MIN_SHARED
            for place in _lines_before(at, talk)
        ):
            return True
    return False


def find_requests_to_forget(talk: Talk, names: Collection[str]) -> list[tuple[int, Line, frozenset[str]]]:
    """Return the places and lines in which the user asks to have something forgotten, with the terms of what they name.

    The terms are empty if they mean what was said right before.
    """
    found = []
    for at, line in enumerate(talk.lines):
        if line.speaker != "user":
            continue
        before = ""
        for sentence in split_sentences(line.text):
            asked = ASKS_TO_FORGET.search(sentence)
            if asked and not HOLDS_ON.search(sentence):
                bare = ASKS_TO_FORGET.sub(" ", sentence)
                # "I applied there. Please wipe it."
                is_of_before = POINTS_BACK.fullmatch(bare) or ENDS_THERE.match(sentence[asked.end() :])
                about = f"{before} {bare}" if is_of_before else bare
                names_nothing = POINTS_BACK.fullmatch(about)
                found.append((at, line, frozenset() if names_nothing else _words(about, names, line)))
            before = sentence
    return found


def _words(text: str, names: Collection[str], line: Line) -> frozenset[str]:
    return subject(folded(text), names, line.said_at)


def _lines_before(at: int, talk: Talk) -> list[int]:
    """Return the places of the user's last two lines before the place `at`."""
    return [place for place in range(at) if talk.lines[place].speaker == "user"][-2:]
