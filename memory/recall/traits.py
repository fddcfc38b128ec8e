"""What can be told of a text before anything asks for it: who speaks, whether it asks, counts or names a time."""

from enum import IntFlag

import regex

from memory.recall.small_talk import is_small_talk
from memory.recall.terms import is_question
from text.sentences import split_sentences

FIRST_PERSON = regex.compile(r"(?i)\b(?:i|me|my|mine|we|us|our|ours)\b|[我咱]")
NUMBER = regex.compile(
    r"(?i)\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|first|second"
    r"|third|once|twice|several|few|couple|half)\b|[两几]|[一二三四五六七八九十百千万](?=[个只次天年月岁本条位块元])"
)
TIME = regex.compile(
    r"(?i)\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|recently|weekend|week|month|year|morning|evening"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october"
    r"|november|december)s?\b|(?:19|20)\d\d|[昨今明前后]天|[上下这]个?(?:周|星期|礼拜|月)|[去今明]年|星期|礼拜|\d[日号点]|年前|以前"
)


class Trait(IntFlag):
    """Bits of one text; `ANY` is always set."""

    ANY = 1
    OF_USER = 2
    OF_COMPANION = 4
    QUESTION = 8
    FIRST_PERSON = 16
    NUMBER = 32
    TIME = 64
    TELLS_NOTHING = 128


SPEAKERS = {"user": Trait.OF_USER, "companion": Trait.OF_COMPANION}


def tells_nothing(text: str) -> bool:
    """Return whether all that the text says is questions and small talk."""
    return all(is_question(one) or is_small_talk(one) for one in split_sentences(text))


def traits(text: str, speaker: str) -> Trait:
    """The traits of a text that this speaker ("user", "companion" or "") said."""
    found = Trait.ANY | SPEAKERS.get(speaker, Trait.ANY)
    text = text.replace("’", "'")
    if any(is_question(line) for line in text.splitlines()):
        found |= Trait.QUESTION
    if tells_nothing(text):
        found |= Trait.TELLS_NOTHING
    for trait, pattern in ((Trait.FIRST_PERSON, FIRST_PERSON), (Trait.NUMBER, NUMBER), (Trait.TIME, TIME)):
        if pattern.search(text):
            found |= trait
    return found
