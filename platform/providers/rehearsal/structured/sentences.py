"""What was said, sentence by sentence: what it is about, of what kind it is, and how much it tells."""

import re
from collections.abc import Collection
from dataclasses import dataclass

from providers.rehearsal.answering import ASK, GREETING
from providers.rehearsal.likeness import terms
from providers.rehearsal.structured.reading import Said

PARTS = re.compile(r"[^.!?。！？\n;；]+(?:\.(?=\S)[^.!?。！？\n;；]*)*[.!?。！？;；]*[”\"』」]?")
QUESTION = re.compile(r"[?？]\W*$|(?:吗|呢|嗎)\W*$")
FIRST_PERSON = re.compile(r"(?i)\b(?:i|i'm|i've|i'll|i'd|my|me|mine|we|we're|our|us)\b|我|咱|俺")
QUOTES = re.compile("[“”「」『』]")
NODS = re.compile(
    r"(?i)\b(?:I (?:see|understand|agree|know)|thank\w*|okay|you're right)\b|知道了|明白了|谢谢|感谢|好的|同意|没错"
)
WITHIN = str.maketrans("“”", "‘’")
MOST_CHARACTERS = 280
MARKS = ".,!?;:。，！？；：、 "

KINDS = {
    "promise": re.compile(r"(?i)\bI (?:promise|swear)\b|我(?:答应|保证|承诺|发誓)"),
    "relationship": re.compile(
        r"(?i)\b(?:my|our) (?:\w+ )?(?:sister|brother|friend|mother|father|mom|mum|dad|wife|husband|son|daughter|aunt"
        r"|uncle|cousin|grand\w+|girlfriend|boyfriend|partner|boss|colleague|neighbou?r|teacher|parents?|roommate|dog|cat)s?\b"
        r"|我(?:的)?(?:妹妹|姐姐|哥哥|弟弟|妈妈|母亲|爸爸|父亲|妻子|丈夫|老公|老婆|儿子|女儿|朋友|男朋友|女朋友|同事"
        r"|老板|邻居|老师|室友|奶奶|爷爷|外婆|外公|家人|同学)"
    ),
    "goal": re.compile(
        r"(?i)\b(?:plan(?:ning)? (?:to|on)|want to|would like to|hop(?:e|ing) to|going to|my (?:goal|dream|plan)|dream of"
        r"|intend|decided to|aim to)\b|打算|计划|想要|希望|目标|梦想|准备|决定"
    ),
    "preference": re.compile(
        r"(?i)\b(?:like|love|enjoy|prefer|hate|dislike|favou?rite|adore|can't stand|fond of|fan of|interested in)s?\b"
        r"|喜欢|喜歡|喜爱|爱好|热爱|偏爱|讨厌|最爱|爱吃|爱看|感兴趣"
    ),
    "event": re.compile(
        r"(?i)\b(?:yesterday|today|tonight|last (?:week|night|month|year|weekend)|ago|recently|this morning|\w+day|\d{4}"
        r"|went|was|were|had|got|did|met|saw|bought|moved|started|finished|visited|became|won|lost|made|took|came|been)\b"
        r"|昨天|今天|昨晚|前天|上周|上个月|去年|最近|刚刚|刚才|了|过"
    ),
}
WILL = re.compile(r"(?i)\bI(?: will|'ll|’ll)\b(?! (?:be here|listen))|我(?:会|將|将|一定)")
OPINIONS = """
any anymore day dislik dislike enjoy every favorite favourite hat hate instead longer lov love more now prefer really time
used very 喜欢 我喜 很喜 最喜 讨厌 现在 不再 每天 我每 以前 我不 我现
"""
NO_SUBJECT = frozenset(OPINIONS.split())
TELLING = re.compile(
    r"\d|[A-Z][a-z]+(?<!^I)|《[^》]+》|(?i:\b(?:because|never|always|best|most|first)\b)|最|第一|因为|从来|总是"
)


@dataclass(frozen=True)
class Sentence:
    """One sentence as it stands in its line."""

    line: Said
    text: str

    @property
    def terms(self) -> set[str]:
        return about(self.text, {self.line.name})

    @property
    def is_statement(self) -> bool:
        """Whether someone says something of themselves, and neither asks nor greets."""
        return bool(
            FIRST_PERSON.search(self.text)
            and not (QUESTION.search(self.text) or ASK.search(self.text) or self._is_echo)
            and not (GREETING.match(self.text) and len(self.text) < 30)
            and not (NODS.search(self.text) and len(self.terms) < 6)
            and len(self.terms) >= 2
        )

    @property
    def _is_echo(self) -> bool:
        """Whether a companion only repeats what it was told."""
        return not self.line.is_user and bool(QUOTES.search(self.text))

    @property
    def kind(self) -> str:
        """The kind of memory that it would be."""
        if not self.line.is_user:
            return "promise" if KINDS["promise"].search(self.text) or WILL.search(self.text) else ""
        named = next((kind for kind, words in KINDS.items() if words.search(self.text)), "")
        return named or ("promise" if WILL.search(self.text) else "fact")

    @property
    def weight(self) -> float:
        """How much it tells: its terms, names and numbers, and whether it is more than a mere fact."""
        worth = 2.0 if self.kind not in {"", "fact", "event"} else 0.0
        return min(len(self.terms), 12) + min(len(TELLING.findall(self.text)), 4) + worth


def sentences(line: Said) -> list[Sentence]:
    """The line's sentences, each at most 280 characters of it."""
    return [Sentence(line, shortened(part)) for part in parts(line.text)]


def cited(text: str) -> str:
    """The text in quotation marks, with its own ones changed for single ones."""
    return f"“{text.translate(WITHIN)}”"


def parts(text: str) -> list[str]:
    """The sentences of a text."""
    return [part.strip() for part in PARTS.findall(text) if part.strip(MARKS)]


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text, or its beginning up to the last word that fits."""
    if len(text) <= most:
        return text
    cut = text[:most]
    return cut.rpartition(" ")[0] if " " in cut[most // 2 :] else cut


def about(text: str, names: Collection[str] = ()) -> set[str]:
    """What a text is about: its terms, without those of the names."""
    without = {term for name in names for term in terms(name)}
    return {term for term in terms(text) if term not in without}


def subject(text: str, names: Collection[str] = ()) -> set[str]:
    """What a text is about, whatever it says of it: liking and changing are no subject."""
    return {term for term in about(text, names) if term not in NO_SUBJECT}


def shared(one: set[str], other: set[str]) -> float:
    """0 to 1: how much of the shorter one is in the other."""
    return len(one & other) / min(len(one), len(other)) if one and other else 0.0


def likeness(one: set[str], other: set[str]) -> float:
    """0 to 1: how much of both is shared."""
    return len(one & other) / len(one | other) if one | other else 0.0
