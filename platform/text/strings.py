"""Strings: what can be stored, what is compared, sentences, and quoting for prompts. Pure."""

import json
import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeVar

import regex

# No language has more on one letter (Unicode's Stream-Safe Text), and sorting them takes the square of their number.
MANY_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")

Part = TypeVar("Part")
SURROGATE = re.compile("[\ud800-\udfff]")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can keep it: no NUL, no lone surrogate."""
    return not UNSTORABLE.search(text)


def check_storable(text: str) -> str:
    """Return the text; raise ValueError where PostgreSQL cannot keep it."""
    if not is_storable(text):
        raise ValueError("holds characters that are not text")
    return text


def storable(text: str) -> str:
    """Return the text without what PostgreSQL cannot keep: NULs are left out, lone surrogates become U+FFFD."""
    return text if is_storable(text) else SURROGATE.sub("\ufffd", text.replace("\x00", ""))


def folded(text: str) -> str:
    """Return the text as it is compared: in NFKC, case folded, with a plain apostrophe."""
    return unicodedata.normalize("NFKC", MANY_MARKS.sub(r"\1", text)).replace("’", "'").casefold()


def ends(parts: list[Part], most: int) -> list[Part]:
    """Return all parts where they are not too many, else the first and the last, half of each."""
    return parts if len(parts) <= most else parts[: most // 2] + parts[-(most // 2) :]


def shorten(text: str, limit: int) -> str:
    """Return the text, or as much of its beginning as fits into `limit` characters with "…" for the rest."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


# -- sentences: the one splitter, for any script

# A narrow mark ends a sentence where a space follows, and not after a title or an initial; a wide one at once.
SENTENCE_END = regex.compile(
    r"(?:(?<![.!?…؟]|\b(?:Mr|Mrs|Ms|Dr|St|[A-HJ-Z]))[.!?…؟]++[”’»\"')\]]*+(?=\s|$)"
    r"|(?<![。！？])[。！？]++[”’」』）]*+|\n)\s*+"
)
WIDE_MARKS = "。！？，；：、”’」』）"


def cut_sentences(text: str) -> list[str]:
    """Return the sentences with the blanks that follow them; joined they are the text. A line's end ends one."""
    stops = (match.end() for match in SENTENCE_END.finditer(text))
    return [text[start:end] for start, end in pairwise([0, *stops, len(text)]) if start < end]


def split_sentences(text: str) -> list[str]:
    """Return the sentences without the blanks around them, none empty."""
    return [sentence for part in cut_sentences(text) if (sentence := part.strip())]


def join_sentences(sentences: Iterable[str]) -> str:
    """Return the sentences one after the other, with a blank between two where the script has one."""
    text = ""
    for sentence in sentences:
        text += sentence if not text or text[-1] in WIDE_MARKS else f" {sentence}"
    return text


# -- quoting what people, files and models wrote, so that in a prompt it stays material

# Letters of mathematics, in circles or full width: in compatibility form they are plain ones.
DRESSED = [
    chr(code)
    for start, end in ((0x24B6, 0x24EA), (0xFF21, 0xFF5B), (0x1D400, 0x1D6A4))
    for code in range(start, end)
]


def _letter(plain: str, alike: str) -> str:
    dressed = (letter for letter in DRESSED if unicodedata.normalize("NFKC", letter).casefold() == plain)
    return f"[{plain}{alike}{''.join(dressed)}]"


# A block's mark in any of the ways in which a model may still read it as one. Each gap is read once for the mark that it
# stands in: neither a mark's beginning nor a letter is part of a gap.
GAP = r"[\s\p{C}\p{M}\p{Default_Ignorable_Code_Point}]"
ALIKE = {"k": "кκᴋ", "i": "ıіɪι", "t": "тτᴛ", "h": "һнʜ"}
LETTERS = rf"{GAP}*+".join(_letter(plain, alike) for plain, alike in ALIKE.items())
BLOCK_MARK = regex.compile(
    rf"[<＜﹤‹˂〈〈⟨❬❮❰⧼ᐸ≺≮](?={GAP}*+[/／⁄∕⧸╱]?{GAP}*+{LETTERS}{GAP}*[\p{{Pd}}\u00ad\u2212\u02d7\u2043ー_])",
    regex.IGNORECASE,
)

# Kith's name as an eye reads it, of names alone: anywhere in one, or spread out letter by letter.
READ_ALIKE = {"k": ALIKE["k"], "i": ALIKE["i"] + "l1|!", "t": ALIKE["t"] + "†", "h": ALIKE["h"]}
READ = [f"[{plain}{alike}]" for plain, alike in READ_ALIKE.items()]
SIGNS, GAPS = r"[^\p{L}\p{N}\s]*?", r"[^\p{L}\p{N}]+?"
OWN_NAME = regex.compile(rf"{SIGNS.join(READ)}|(?<!\p{{L}}){GAPS.join(READ)}(?!\p{{L}})")
NOT_SEEN = regex.compile(r"[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]")

TAIL_CHARACTERS = 200  # at a text's end, in which a mark may begin
MARK_RESTS = ("kith-", "ith-", "th-", "h-", "-")  # what is missing of one

LINE_END = re.compile("[\x85\u2028\u2029]")  # those that JSON leaves as they are


def neutral(text: str) -> str:
    """Return the text with nothing in it that could pass for a block of Kith's own; as long as it was."""
    return BLOCK_MARK.sub("(", text)


def neutral_beside(text: str) -> str:
    """Return the text, neutral also where another text follows it that goes on with what its end begins."""
    text = neutral(text)
    text, tail = text[:-TAIL_CHARACTERS], text[-TAIL_CHARACTERS:]
    for rest in MARK_RESTS:
        tail = neutral(tail + rest)[: -len(rest)]
    return text + tail


def reads_like_kith(text: str) -> bool:
    """Return whether Kith's own name is read in it: in look-alike letters too, spread out, or with what is not seen."""
    return bool(OWN_NAME.search(NOT_SEEN.sub("", unicodedata.normalize("NFKD", folded(text)))))


def one_line(text: str) -> str:
    """Return the text, neutral, in one line: a name cannot begin a rule or a memory of its own."""
    return " ".join(neutral(text).split())


def quoted(text: str) -> str:
    """Return the text as one line in quotation marks."""
    return LINE_END.sub(" ", json.dumps(neutral(text), ensure_ascii=False))


def block(name: str, lines: list[str]) -> str:
    """Return lines as a block of Kith's own; nothing for no lines."""
    return "\n".join([f"<kith-{name}>", *lines, f"</kith-{name}>"]) if lines else ""
