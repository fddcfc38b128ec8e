"""Joy, aversion and emotions, by the words that tell them."""

import re

JOYS = re.compile(
    r"(?i)\b(?:lov(?:e[sd]?|ing)|enjoy\w*|happy|happi\w+|glad|delight\w*|excit\w+|wonderful|great|proud\w*|fun|grateful"
    r"|thank\w*|favou?rite|relax\w*|amazing|cheerful|joy\w*|beautiful|likes?|prefers?)\b"
    r"|喜欢|喜愛|爱|愛|开心|高兴|高興|快乐|快樂|幸福|激动|兴奋|自豪|感谢|谢谢|有趣|美好|放松|期待|满意"
)
AVERSIONS = re.compile(
    r"(?i)\b(?:hat(?:e[sd]?|ing)|dislik\w+|sad\w*|angr\w+|annoy\w*|afraid|fear\w*|worr\w+|anxi\w+|lonely|tired"
    r"|stress\w*|upset|terribl\w+|awful|depress\w*|hurt\w*|pain\w*|cr(?:y|ied|ying)|lost|miss(?:ed|ing)?|disappoint\w*)\b"
    r"|can't stand"
    r"|讨厌|討厭|难过|難過|伤心|生气|生氣|害怕|担心|擔心|焦虑|孤独|累|压力|烦|痛苦|沮丧|失望|失去|难受|哭"
)
EMOTIONS = {
    "angry": re.compile(r"(?i)\b(?:angr\w+|furious|annoy\w*|mad at)\b|生气|生氣|愤怒|气死"),
    "sad": re.compile(
        r"(?i)\b(?:sad\w*|lonely|cr(?:y|ied|ying)|depress\w*|lost|upset|disappoint\w*|hurt\w*|worr\w+|anxi\w+|afraid)\b"
        r"|难过|難過|伤心|孤独|沮丧|失望|失去|哭|焦虑|担心|害怕"
    ),
    "surprised": re.compile(r"(?i)\b(?:surpris\w+|unexpected\w*|wow|suddenly)\b|惊讶|没想到|居然|竟然"),
    "awkward": re.compile(r"(?i)\b(?:awkward|embarrass\w*|sorry|ashamed)\b|尴尬|不好意思|抱歉|对不起"),
    "happy": re.compile(
        r"(?i)\b(?:happy|glad|delight\w*|excit\w+|wonderful|great|fun|proud\w*|grateful)\b"
        r"|开心|高兴|高興|快乐|幸福|激动|兴奋|自豪"
    ),
    "curious": re.compile(r"(?i)\b(?:curious|wonder(?:ing)?|interest\w+|learn\w*)\b|好奇|想知道|感兴趣|学习"),
}


def joy(text: str) -> float:
    """0 to 1: a third for each word of joy."""
    return _share(JOYS, text)


def aversion(text: str) -> float:
    """0 to 1: a third for each word of aversion."""
    return _share(AVERSIONS, text)


def _share(words: re.Pattern[str], text: str) -> float:
    return round(min(1.0, 0.3 * len(words.findall(text))), 2)


def emotion(text: str) -> tuple[str, float]:
    """The emotion that most words tell of, and how strongly, 0 to 1."""
    counts = {name: len(words.findall(text)) for name, words in EMOTIONS.items()}
    name = max(counts, key=lambda name: counts[name])
    return (name, round(min(1.0, 0.2 + 0.1 * counts[name]), 2)) if counts[name] else ("neutral", 0.0)
