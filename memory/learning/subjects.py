"""Whether two texts are about the same: by the terms that tell something, and by whom they speak of. Pure."""

from collections.abc import Collection, Iterable
from datetime import datetime

import regex

from memory.learning.talk import Line
from memory.recall.query import without_names
from memory.recall.traits import STOP_CHARACTERS, sign_facts, terms
from text.storable import folded

# Terms that stand in texts about anything.
COMMON = frozenset(
    term
    for word in """
    user companion like love enjoy hate want wish need think believe know feel find get got go goes going went come came
    have having make made take took give gave say said tell told ask talk call called name named use used keep try tried
    time times day days week month year today yesterday tomorrow now new old good bad big little really very also still
    again anymore always never often sometimes usually ever more most much many lot lots less few one two first last own
    people person someone somebody thing things something anything everything nothing well just even back lately recently
    without before after since near because during until while next between about around up down off out over under away
    ago early late later soon once twice half zero three four five six seven eight nine ten eleven twelve dozen hundred
    thousand hour hours minute minutes week weekend morning evening night pound pounds euro euros dollar dollars live
    lives lived living see saw seen look looked put let work works working worked
    prefer favourite favorite kind sort way start started begin began stop stopped change changed longer instead maybe
    """.split()  # noqa: SIM905 (a list of them fills a page)
    for term in terms(word)
) | frozenset(
    """
    用户 喜欢 现在 今天 昨天 以前 以后 不再 没有 不是 觉得 知道 想要 希望 已经 还是 就是 一个 这个 那个 什么 时候 非常
    分钟 小时 个月 每天 每周 每月 每晚 三次 两次 一次 十分 二岁 岁了 四岁 年夏 夏天 周末 家里 在家 号码 在学 正在 欢秋
    真的 最近 经常 总是 从来 可以 自己 开始 变成 改成 不喜 很喜 最喜 也喜 欢吃 不想 很想
    """.split()  # noqa: SIM905
)
# Words of one matter: who moved to Berlin no longer lives in Bonn, though no word is the same.
MATTERS = {
    "home": r"\b(?:liv(?:e|es|ed|ing) (?:in|at|near|on)|mov(?:e|es|ed|ing) (?:to|from|into|in)|resid\w+|relocat\w+)\b"
    r"|住在|搬到|搬去|搬家|搬回|定居",
    "work": r"\b(?:work(?:s|ed|ing)? (?:as|for)|(?:new|left (?:my|her|his)) job|employ(?:ed|er)|unemployed)\b"
    r"|在.{1,12}(?:工作|上班|任职)|跳槽|换了?工作|失业",
    "couple": r"\b(?:married|single|divorced|engaged|widowed)\b|结婚|离婚|单身|订婚",
}
KIN = {
    "sister": "sister sisters 姐姐 妹妹 姐 妹",
    "brother": "brother brothers 哥哥 弟弟 哥 弟",
    "mother": "mother mum mom mama 妈妈 母亲 妈",
    "father": "father dad papa 爸爸 父亲 爸",
    "son": "son sons 儿子",
    "daughter": "daughter daughters 女儿",
    "child": "child children kid kids baby 孩子 宝宝",
    "husband": "husband 丈夫 老公",
    "wife": "wife 妻子 老婆",
    "boyfriend": "boyfriend 男朋友 男友",
    "girlfriend": "girlfriend 女朋友 女友",
    "friend": "friend friends flatmate roommate 朋友 室友",
    "colleague": "colleague colleagues coworker boss manager 同事 老板 主管",
    "neighbour": "neighbour neighbor neighbours 邻居",
    "grandmother": "grandmother gran grandma nana 奶奶 外婆 姥姥",
    "grandfather": "grandfather grandad grandpa 爷爷 外公 姥爷",
    "aunt": "aunt 阿姨 姑姑 姨妈",
    "uncle": "uncle 叔叔 舅舅",
    "cousin": "cousin cousins 表姐 表哥 表弟 表妹 堂哥",
    "cat": "cat cats kitten 猫",
    "dog": "dog dogs puppy 狗",
}
RELATED = frozenset(term for said in KIN.values() for term in terms(said)) - frozenset(
    terms("cat cats kitten dog dogs puppy")
)
UNTOLD = COMMON | RELATED
LOVERS = {"husband", "wife", "boyfriend", "girlfriend"}
NAME = regex.compile(r"(?<!^)\b\p{Lu}\p{L}+")
PARTICLES = STOP_CHARACTERS | set("不没")  # a pair with one of them tells no more than the other character
WORD = regex.compile(r"\p{Han}+|[\p{L}\p{N}]+")
DENIES = regex.compile(
    r"\b(?:wrong|mistake|mistaken|lied|lying|joking|kidding|false|untrue|incorrect|made (?:it|that) up|forget (?:it|that)"
    r"|no longer|any ?more|stopped|quit|gave up|cancelled|canceled|called off|over|used to|ended|changed)\b"
    r"|搞错|说错|弄错|记错|骗|假的|开玩笑|不再|取消|戒|放弃|算了"
)
# Words that lead in what somebody remembers, and tell nothing of it.
LED_IN = frozenset(
    terms("remember remembered recall recalled mention mentioned earlier once that as still memory reminded")
) | frozenset(terms("我记得 我还记得 记住 你告诉过我 你告诉我 你说过 我对你说过 提到过 告诉过"))
SAYING = r"(?:remember|recall|told|tell|said|says|记得|告诉|说)[^“”「」‘]{0,60}"
LED = regex.compile(rf"[^“”「」‘.!?,;。！？，；]{{0,80}}?{SAYING}[“「‘]")
LED_OFF = regex.compile(rf"[^“”「」‘.!?,;。！？，；]{{0,80}}?{SAYING}$")  # cut off before what it leads in
RUN, RETOLD = 5, 0.7
LEAD = regex.compile(r"^[^“”「」]{0,80}?(?:remember|recall|told|said|记得|告诉|说)[^“”「」]{0,60}[“「]")
QUOTED = regex.compile("[“「]([^“”「」]+)[”」]")
ENOUGH, SHARE = 2, 1 / 2
ECHOED = 0.6


def subject(text: str, names: Collection[str], when: datetime) -> frozenset[str]:
    """The terms of a text that tell what it is about: without names of the two who talk, days and common words."""
    bare = without_names(text, {name: name for name in names})
    told = (term for term in terms(bare, when) if not term.startswith("@") and not PARTICLES & set(term))
    return frozenset(term for term in told if term not in UNTOLD)


def _kin(text: str) -> set[str]:
    """Whose kin or pets, if any, the text speaks of."""
    plain = folded(text)
    words = set(WORD.findall(plain))
    return {
        name
        for name, said in KIN.items()
        if any(one in words or (not one.isascii() and one in plain) for one in said.split())
    }


def _may_be_one(kin: set[str], known_kin: set[str]) -> bool:
    """Whether two texts may be about the same person: a sister is another than whoever has her."""
    return bool(kin & known_kin) or not (kin ^ known_kin) - (set() if kin and known_kin else LOVERS)


def _called(text: str, names: Collection[str]) -> set[str]:
    """The names in a text, but for those of the two who talk."""
    return set(NAME.findall(without_names(text, {name: name for name in names})))


def _matters(text: str) -> set[str]:
    return {name for name, pattern in MATTERS.items() if regex.search(pattern, folded(text))}


def is_same_subject(
    new: str,
    quotes: Iterable[str],
    known: str,
    known_quotes: Iterable[str],
    names: Collection[str],
    when: datetime,
) -> bool:
    """Whether what is new, with its quotes, is about what is known: it speaks of nobody else, and shares its terms.

    Two terms are enough, or one where that is half of the shorter text; words of one matter count as one term.
    """
    quotes = list(quotes)
    kin, known_kin = _kin(new), _kin(known)
    told_kin = kin or (_kin(" ".join(quotes)) & known_kin)
    named = bool(_called(new, names) & _called(known, names)) and not (kin and known_kin)
    if not named and not _may_be_one(told_kin, known_kin):
        return False
    mine, theirs = subject(new, names, when), subject(known, names, when)
    told = mine.union(*(subject(quote, names, when) for quote in quotes))
    kept = theirs.union(*(subject(quote, names, when) for quote in known_quotes))
    shared = len((told & theirs) | (mine & kept))
    if kin == known_kin and _matters(new) & _matters(known):
        shared += 1
    least = min(len(mine), len(theirs)) or 1
    return shared >= ENOUGH or (shared >= 1 and shared / least >= SHARE)


def tells_the_same(new: str, at: datetime, known: str, known_at: datetime) -> bool:
    """Whether the new text names no day or number that the known one does not, and denies what that denies."""
    one, other = sign_facts(new, at), sign_facts(known, known_at)
    is_within = one.days <= other.days and one.numbers <= other.numbers
    return is_within and bool(one.denials) == bool(other.denials)


def denies(text: str, when: datetime) -> bool:
    """Whether a text takes something back."""
    return sign_facts(text, when).denials > 0 or bool(DENIES.search(folded(text)))


def is_echo(line: Line, quote: str, text: str, names: Collection[str]) -> bool:
    """Whether a line of the companion's only repeats a memory that it was given: in the quote, or in what is drawn."""
    if line.speaker != "companion":
        return False
    return any(_is_repeated(said, line, names) for said in (quote, text))


def _is_repeated(said: str, line: Line, names: Collection[str]) -> bool:
    """Whether one memory covers it, or most of what is not led in stands in some: an echo of several, or of echoes."""
    return any(_covers(given, said, names, line.said_at) for given in line.given) or _retold(said, line)


def _retold(said: str, line: Line) -> bool:
    """Whether most of its letters stand in runs that also stand in what was given; linear in both."""
    told = _letters(LED_OFF.sub("", LED.sub("", said)))
    if len(told) < RUN:
        return bool(LED.search(said))  # hardly anything but "I remember that you told me: “"
    runs = {run for given in line.given for run in _runs(_letters(given))}
    covered = {at + n for at, run in enumerate(_runs(told)) if run in runs for n in range(RUN)}
    return bool(runs) and len(covered) >= RETOLD * len(told)


def _runs(letters: str) -> list[str]:
    return [letters[at : at + RUN] for at in range(len(letters) - RUN + 1)]


def _covers(given: str, said: str, names: Collection[str], when: datetime) -> bool:
    """Whether what is said tells nothing beyond what was given, however it is led in: "I remember that you said: …"."""
    said = _without_lead(said)
    if _letters(said) in _letters(given):
        return True
    told, known = subject(said, names, when) - LED_IN, subject(given, names, when)
    if not told:
        return any(_letters(one) in _letters(said) for one in (given, *QUOTED.findall(given)))
    return len(told & known) / len(told) >= ECHOED and tells_the_same(said, when, given, when)


def _without_lead(text: str) -> str:
    """What is told after "I remember that you told me on 4 May: “", also where that is quoted in turn."""
    bare = text.lstrip("”’\"'.,。， ")
    while lead := LEAD.match(bare):
        bare = bare[lead.end() :]
    return bare or text


def _letters(text: str) -> str:
    """The letters and digits of a text as they are compared."""
    return "".join(character for character in folded(text) if character.isalnum())
