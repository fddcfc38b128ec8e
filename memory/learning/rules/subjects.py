"""Subjects: whether two texts are about the same, by their telling terms and by whom they speak of. Pure."""

from collections.abc import Collection, Iterable
from datetime import datetime

import regex

from memory.language import any_word_of, groups_of, pattern_of, words_of
from memory.recall.query import without_names
from memory.recall.traits import FIRST_PERSON, STOP_CHARACTERS, sign_facts, terms
from text.dates import find_days
from text.strings import folded

KIN = groups_of("kin")
PETS = ("cat", "dog")
LOVERS = {"husband", "wife", "boyfriend", "girlfriend"}
RELATED = frozenset(
    term for name, words in KIN.items() if name not in PETS for word in words for term in terms(word)
)
COMMON = frozenset(term for word in words_of("common") for term in terms(word))
MATTERS = {name: regex.compile("|".join(patterns)) for name, patterns in groups_of("matters").items()}
BEGINS_IN_FIRST_PERSON = any_word_of("first_person", "^")
TAKES_BACK = pattern_of("takes_back")
PARTICLES = STOP_CHARACTERS | set("不没")  # a pair with one of them says no more than its other character
OTHER_SUBJECT, CLAUSE = pattern_of("other_subject"), pattern_of("clause_ends")
THIRD_PERSON, OF_THEIRS = pattern_of("third_person"), pattern_of("of_theirs")
FIRST_NAME = regex.compile(r"(\p{Lu}[\p{Ll}\p{M}]+)(?:'s)?\s")
NAME = regex.compile(r"(?<!^)\b\p{Lu}\p{L}+")
WORD = regex.compile(r"\p{Han}+|[\p{L}\p{N}]+")
LETTER = regex.compile(r"[\p{Latin}\p{Cyrillic}\p{Greek}]")  # of scripts with spaces between words
MIN_SHARED, MIN_SHARE = 2, 1 / 2


def subject(text: str, names: Collection[str], when: datetime) -> frozenset[str]:
    """Return the terms that say what a text is about, without names of the two who talk, days, common words and kin."""
    told = terms(_without_names(text, names), when)
    return (
        frozenset(term for term in told if not term.startswith("@") and not PARTICLES & set(term))
        - COMMON
        - RELATED
    )


def _without_names(text: str, names: Collection[str]) -> str:
    return without_names(text, {name: name for name in names})


def is_same_subject(
    new: str,
    quotes: Iterable[str],
    known: str,
    known_quotes: Iterable[str],
    names: Collection[str],
    when: datetime,
) -> bool:
    """Return whether the new text, with its quotes, is about the same as the known one: no other person, shared terms.

    Two shared terms are enough, or one if that is half of the shorter text; words of one matter, e.g. of where somebody
    lives, count as one term.
    """
    quotes = list(quotes)
    kin, known_kin = _find_kin(new), _find_kin(known)
    told_kin = kin or (_find_kin(" ".join(quotes)) & known_kin)
    called, known_called = (set(NAME.findall(_without_names(text, names))) for text in (new, known))
    is_named = bool(called & known_called) and not (kin and known_kin)
    if not is_named and not _may_be_same_person(told_kin, known_kin):
        return False
    mine, theirs = subject(new, names, when), subject(known, names, when)
    told = mine.union(*(subject(quote, names, when) for quote in quotes))
    kept = theirs.union(*(subject(quote, names, when) for quote in known_quotes))
    shared = len((told & theirs) | (mine & kept))
    if kin == known_kin and _find_matters(new) & _find_matters(known):
        shared += 1
    least = min(len(mine), len(theirs)) or 1
    return shared >= MIN_SHARED or (shared >= 1 and shared / least >= MIN_SHARE)


def is_own(text: str, companion: str) -> bool:
    """Return whether a text tells of the companion: it begins with "I", or with the companion's name."""
    plain = folded(text).lstrip("“”\"'「『 ")
    return bool(BEGINS_IN_FIRST_PERSON.match(plain)) or _find_rest(plain, companion) is not None


def _find_rest(plain: str, name: str) -> str | None:
    """Return what follows the name at the beginning of a folded text; None if that begins otherwise, also with a longer
    name: "Samantha" is not Sam.
    """
    called = folded(name)
    rest = plain.removeprefix(called)
    return rest if called and plain.startswith(called) and not LETTER.match(rest) else None


def tells_of_another(
    text: str, sentence: str, quote: str, names: Collection[str], called: Collection[str]
) -> bool:
    """Return whether a quote tells of somebody else than its speaker, while the text tells of one of the two who talk.

    `names` are those of the two; `called` are the folded names of the people whom the talk mentions.
    """
    if not _is_about_one_of(text, names):
        return False
    before = sentence.partition(quote)[0]
    clause = f"{CLAUSE.split(before)[-1]}{quote}".strip()
    if FIRST_PERSON.search(clause):
        return False
    match = OTHER_SUBJECT.match(clause)
    named = FIRST_NAME.match(clause)
    is_others = bool(match) or bool(named and folded(named[1]) in called) or bool(THIRD_PERSON.search(quote))
    if not is_others:
        return False
    person = next((group for group in match.groups() if group), "") if match else named[1] if named else ""
    others = {name for name in NAME.findall(_without_names(text, names)) if name not in clause}
    plain = folded(text)
    return (
        not (person and folded(person) in plain) and not (_find_kin(text) - _find_kin(clause)) and not others
    )


def _is_about_one_of(text: str, names: Collection[str]) -> bool:
    """Return whether the text begins with one of the names, and not with something of theirs ("Ann's …")."""
    rests = (_find_rest(folded(text), name) for name in names)
    return any(rest is not None and not OF_THEIRS.match(rest) for rest in rests)


def may_be_about_the_same(new: str, known: str, names: Collection[str]) -> bool:
    """Return whether two texts may be about the same person: they share a name or a kind of kin, or one has no kin."""
    kin, known_kin = _find_kin(new), _find_kin(known)
    called, known_called = (set(NAME.findall(_without_names(text, names))) for text in (new, known))
    return bool(called & known_called) or not kin or not known_kin or bool(kin & known_kin)


def _find_kin(text: str) -> set[str]:
    """Return the kinds of kin and pets ("sister", "dog") that the text speaks of."""
    plain = folded(text)
    said = set(WORD.findall(plain))
    return {
        name
        for name, words in KIN.items()
        if any(word in said or (not word.isascii() and word in plain) for word in words)
    }


def _may_be_same_person(kin: set[str], known_kin: set[str]) -> bool:
    """Return whether texts that speak of these kin may be about one person: they share one, or have none at all. A
    partner does not count if the other text speaks of no kin.
    """
    return bool(kin & known_kin) or not (kin ^ known_kin) - (set() if kin and known_kin else LOVERS)


def _find_matters(text: str) -> set[str]:
    return {name for name, pattern in MATTERS.items() if pattern.search(folded(text))}


def tells_the_same(new: str, at: datetime, known: str, known_at: datetime) -> bool:
    """Return whether the new text names no day or number that the known one does not, and both or neither deny."""
    told, known_told = sign_facts(new, at), sign_facts(known, known_at)
    is_within = names_no_other_day(new, at, known, known_at) and told.numbers <= known_told.numbers
    return is_within and bool(told.denials) == bool(known_told.denials)


def names_no_other_day(new: str, at: datetime, known: str, known_at: datetime) -> bool:
    """Return whether the known text names every day that the new one does. If both name dates to come or in full, these
    are compared: "on Thursday", said on a Tuesday, is "tomorrow", said on Wednesday.
    """
    ahead, known_ahead = find_days(new, at.date()), find_days(known, known_at.date())
    if ahead and known_ahead:
        return set(ahead) <= set(known_ahead)
    return sign_facts(new, at).days <= sign_facts(known, known_at).days


def denies(text: str, when: datetime) -> bool:
    """Return whether a text denies something or takes it back."""
    return sign_facts(text, when).denials > 0 or bool(TAKES_BACK.search(folded(text)))
