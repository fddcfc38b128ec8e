"""Whether what was written stands on what was said: looked at in plain text, with nothing of Kith's own guards.

Looked at are names, numbers and dates: Latin words with a capital within a sentence, titles in 《》, Chinese names that
begin with a common surname after a verb of naming, numbers in digits and in Chinese, days as 2023-05-02, and months and
weekdays by name. Each must stand in what was said in the messages that the sentence names, or be the day or the speaker
of one of these.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

DAY = re.compile(r"\d{4}-\d\d-\d\d")
NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
CALENDAR = re.compile(
    r"\b(?:january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
CAPITAL = re.compile(r"(?<![\w'’-])[A-Z][\w'’-]*")
BEGINS = re.compile(r"(?:\A|[.!?:;。！？：；\n“”\"'‘’(（]|- )\s*\Z")
CHINESE_NUMBER = re.compile(
    r"[一二三四五六七八九十百千万两]+(?=[个只次天年月岁本条位块元点号日周级分名件部首场]|星期)"
)
TITLE = re.compile(r"《([^》]+)》")
NAMED = re.compile(
    r"(?:叫做?|名叫|是)([王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗宫郝姚曹郑陆焦][\u4e00-\u9fff]{1,2})"
)
NOT_NAMES = frozenset({"I", "I'm", "I've", "I'll", "I'd", "AI", "OK"})


@dataclass(frozen=True)
class Source:
    """A message: who said what, on which day."""

    speaker: str
    text: str
    on: str


@dataclass(frozen=True)
class Unfounded:
    """A sentence, and what in it stands in none of its sources (nothing, where it names no source at all)."""

    text: str
    what: str


def unfounded(
    sentences: Iterable[Mapping[str, object]], sources: Mapping[str, Source], ours: Iterable[str] = ()
) -> list[Unfounded]:
    """All that does not stand on its sources; `ours` are the names of the two who talk."""
    found = []
    for sentence in sentences:
        text, ids = str(sentence["text"]), [str(id) for id in sentence["sources"]]  # type: ignore[attr-defined]
        named = [sources[id] for id in ids if id in sources]
        if not named or len(named) < len(ids):
            found.append(Unfounded(text, ""))
        held = _plain("\n".join([*ours, *(f"{one.speaker} {one.on} {one.text}" for one in named)]))
        found += [Unfounded(text, what) for what in marks(text) if not _holds(held, what)]
    return found


def marks(text: str) -> list[str]:
    """The names, numbers and dates of a text."""
    days = DAY.findall(text)
    rest = DAY.sub(" ", text)
    names = [
        one[0]
        for one in CAPITAL.finditer(rest)
        if one[0] not in NOT_NAMES and not BEGINS.search(rest[: one.start()])
    ]
    return [
        *days,
        *NUMBER.findall(rest),
        *CALENDAR.findall(rest),
        *names,
        *CHINESE_NUMBER.findall(rest),
        *TITLE.findall(rest),
        *NAMED.findall(rest),
    ]


def _holds(held: str, what: str) -> bool:
    what = _plain(what)
    if not what.isascii():
        return what in held
    return re.search(rf"(?<![a-z0-9]){re.escape(what)}(?![a-z0-9])", held) is not None


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).replace("’", "'").casefold()
