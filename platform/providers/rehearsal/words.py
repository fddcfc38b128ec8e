"""What the rehearsal model reads from the words of a text: its terms, kind and emotion."""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import pairwise
from typing import TypeVar

from text.strings import split_sentences

Named = TypeVar("Named")

HAN = re.compile(r"[\u3400-\u9fff]")
WORD = re.compile(r"[a-zà-ÿ0-9']{2,}|[\u3400-\u9fff]+")
COMMON_WORDS = """
about am an and any are as at be been but by can could did do does for from had has have he her him his how i'm if in is
it it's its just know like me my of on or our please remember said say she so tell that the their them there they this
to told was we were what what's when where which who why will with would you your
什么 你还 还记 记得 得我 我的 我在 我是 知道 怎么 是什 哪里 告诉 诉我 我说 说过 一下 是谁
"""
COMMON = frozenset(COMMON_WORDS.split())  # stop words
MARKS = ".,!?;:。，！？；：、… "
MAX_SENTENCE = 280
EMOTIONS = {
    "angry": r"angr\w+|furious|annoy\w*|hate\w*|生气|生氣|愤怒|讨厌",
    "sad": r"sad\w*|lonely|cr(?:y|ied|ying)|lost|upset|disappoint\w*|hurt\w*|worr\w+|afraid|tired"
    r"|难过|難過|伤心|孤独|失望|失去|哭|担心|害怕|难受|累",
    "surprised": r"surpris\w+|unexpected\w*|wow|suddenly|惊讶|没想到|居然",
    "awkward": r"awkward|embarrass\w*|sorry|ashamed|尴尬|不好意思|抱歉|对不起",
    "happy": r"happ(?:y|i\w+)|glad|delight\w*|excit\w+|wonderful|great|fun|proud\w*|grateful"
    r"|开心|高兴|高興|快乐|幸福|兴奋|自豪",
    "curious": r"curious|wonder(?:ing)?|interest\w+|learn\w*|好奇|想知道|感兴趣|学习",
}
LIKING = (
    r"lov(?:e[sd]?|ing)|lik(?:e[sd]?|ing)|enjoy\w*|prefer\w*|favou?rite|thank\w*|喜欢|喜愛|爱|谢谢|有趣|期待"
)
KINDS = {  # of memories; the first that matches counts
    "promise": r"\bI (?:promise|swear)\b|我(?:答应|保证|承诺|发誓)",
    "relationship": r"\b(?:my|our) (?:\w+ )?(?:sister|brother|friend|mother|father|mum|mom|dad|wife|husband|son|daughter"
    r"|aunt|uncle|cousin|grand\w+|girlfriend|boyfriend|partner|boss|colleague|neighbou?r|teacher|dog|cat)s?\b"
    r"|我(?:的)?(?:妹妹|姐姐|哥哥|弟弟|妈妈|爸爸|妻子|丈夫|老公|老婆|儿子|女儿|朋友|同事|老板|邻居|老师|奶奶|爷爷)",
    "goal": r"\b(?:plan(?:ning)? (?:to|on)|want to|would like to|hop(?:e|ing) to|going to|my (?:goal|dream)|decided to)\b"
    r"|打算|计划|想要|希望|目标|梦想|准备|决定",
    "preference": r"\b(?:like|love|enjoy|prefer|hate|dislike|favou?rite|can't stand)s?\b|喜欢|讨厌|爱好|最爱|爱吃",
    "event": r"\b(?:yesterday|today|tonight|last \w+|ago|recently|this morning|\w+day|\d{4}|went|was|were|had|got|did|met"
    r"|saw|bought|moved|started|finished|visited|won|lost|made|took|came)\b|昨天|今天|昨晚|前天|去年|最近|刚刚|刚才|了|过",
}
FIRST_PERSON = re.compile(r"(?i)\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|we're|our|us)\b|我|咱")
QUESTION = re.compile(r"[?？]\W*$|(?:吗|呢|嗎)\W*$")
ASK = re.compile(
    r"(?i)do you (?:still )?(?:remember|recall|know)|what did i|did i (?:tell|say)|have i told|记得|记不记得|記得"
)
GREETING = re.compile(
    r"(?i)^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon))\b[^?]{0,20}$|^\W*(?:你好|您好|嗨|早上好|晚上好)"
)


def count_terms(text: str, names: Collection[str] = ()) -> Counter[str]:
    """Count a text's stemmed words, Chinese as pairs of characters, without stop words and the words of `names`."""
    terms: Counter[str] = Counter()
    for run in WORD.findall(text.lower()):
        found = map("".join, pairwise(run)) if HAN.match(run) else [run]
        terms.update(_stem(term) for term in found if term not in COMMON)
    for name in names:
        for term in count_terms(name):
            terms.pop(term, None)
    return terms


def _stem(word: str) -> str:
    word = word.removesuffix("'s")
    endings = (end for end in ("ing", "ed", "es", "s") if len(word) > 4 and word.endswith(end))
    return word.removesuffix(next(endings, ""))


def measure_likeness(text: Collection[str], other: Collection[str]) -> float:
    """Return the Jaccard similarity of two sets of terms, 0 to 1."""
    text, other = set(text), set(other)
    return len(text & other) / len(text | other) if text | other else 0.0


def rank_by_likeness(question: str, texts: Iterable[tuple[str, Named]]) -> list[tuple[float, Named]]:
    """Return the things whose texts share a term with the question, with their scores, best first.

    Rare terms count more, and texts that are questions count less. A text that is the question itself is left out.
    """
    asked = count_terms(question)
    known = [(count_terms(text), text, named) for text, named in texts]
    spread = Counter(term for terms, _, _ in known for term in terms)
    ranked = []
    for terms, text, named in known:
        score = sum(math.log(1 + len(known) / spread[term]) for term in asked if term in terms)
        if score > 0 and text.strip() != question.strip():
            ranked.append((score * (0.4 if QUESTION.search(text) else 1.0), named))
    return sorted(ranked, key=lambda pair: -pair[0])


def is_chinese(text: str) -> bool:
    """Return whether the text is mostly Chinese: a Chinese character counts as much as three Latin letters."""
    latin = sum(character.isascii() and character.isalpha() for character in text)
    return len(HAN.findall(text)) * 3 > latin


def cut_parts(text: str) -> list[str]:
    """Return the sentences of a text, each cut to MAX_SENTENCE characters."""
    return [part[:MAX_SENTENCE].strip() for part in split_sentences(text) if part.strip(MARKS)]


def is_statement(text: str) -> bool:
    """Return whether the text says something in the first person, and is neither a question nor a greeting."""
    is_asked = QUESTION.search(text) or ASK.search(text) or GREETING.match(text)
    return bool(FIRST_PERSON.search(text) and not is_asked)


def find_kind(text: str) -> str:
    """Return the kind of memory that a sentence would be; `fact` if no other."""
    return next((kind for kind, words in KINDS.items() if re.search(f"(?i){words}", text)), "fact")


def find_emotion(text: str) -> tuple[str, float]:
    """Return the emotion that most words express, and its intensity, 0 to 1."""
    counts = {emotion: _count(words, text) for emotion, words in EMOTIONS.items()}
    emotion = max(counts, key=lambda name: counts[name])
    return (emotion, round(min(1.0, 0.2 + 0.1 * counts[emotion]), 2)) if counts[emotion] else ("neutral", 0.0)


def measure_joy(text: str) -> float:
    """Return the joy in the text, 0 to 1: 0.3 for each word that expresses it."""
    return min(1.0, round(0.3 * _count(f"{EMOTIONS['happy']}|{LIKING}", text), 2))


def measure_aversion(text: str) -> float:
    """Return the aversion in the text, 0 to 1: 0.3 for each word that expresses it."""
    return min(1.0, round(0.3 * _count(f"{EMOTIONS['sad']}|{EMOTIONS['angry']}", text), 2))


def _count(words: str, text: str) -> int:
    return len(re.findall(rf"(?i)(?<![a-z])(?:{words})(?![a-z])", text))
