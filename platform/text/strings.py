"""Strings: making them storable and comparable, splitting sentences, and quoting for prompts. Pure."""

import json
import re
import unicodedata
from collections.abc import Iterable
from itertools import pairwise
from typing import TypeVar

import regex

# No language puts more marks on a letter (Unicode's Stream-Safe Text), and sorting them takes quadratic time.
MANY_MARKS = regex.compile(r"(\p{M}{30})\p{M}+")

Part = TypeVar("Part")
SURROGATE = re.compile("[\ud800-\udfff]")
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Return whether PostgreSQL can store the text: it has no NUL and no lone surrogate."""
    return not UNSTORABLE.search(text)


def check_storable(text: str) -> str:
    """Return the text; raise ValueError if PostgreSQL cannot store it."""
    if not is_storable(text):
        raise ValueError("holds characters that are not text")
    return text


def storable(text: str) -> str:
    """Return the text in a form that PostgreSQL can store: NULs are removed, lone surrogates become U+FFFD."""
    return text if is_storable(text) else SURROGATE.sub("\ufffd", text.replace("\x00", ""))


def keep_letters(text: str) -> str:
    """Return only the letters and digits of a text, folded for comparison."""
    return "".join(filter(str.isalnum, folded(text)))


def has_words(text: str) -> bool:
    """Return whether the text has a letter or a digit, in any script."""
    return any(map(str.isalnum, text))


def folded(text: str) -> str:
    """Return the text folded for comparison: in NFKC, case folded, with plain apostrophes."""
    return unicodedata.normalize("NFKC", MANY_MARKS.sub(r"\1", text)).replace("’", "'").casefold()


def squeeze(text: str) -> str:
    """Return the text with single blanks and plain apostrophes, since models vary these."""
    return " ".join(text.replace("’", "'").split())


def ends(parts: list[Part], most: int) -> list[Part]:
    """Return all parts if there are at most `most`, otherwise the first and the last, half of `most` each.

    If `most` is odd, one more of the first.
    """
    last = most // 2
    return parts if len(parts) <= most else parts[: most - last] + parts[len(parts) - last :]


def shorten(text: str, limit: int) -> str:
    """Return the text, cut to at most `limit` characters with "…" at the end if it is longer."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


# -- sentences: the one splitter, for any script

# A narrow mark ends a sentence if a space follows, but not after a title or an initial; a full-width one does unless a
# comma goes on after a quotation.
SENTENCE_END = regex.compile(
    r"(?:(?<![.!?…؟]|\b(?:Mr|Mrs|Ms|Dr|St|[A-HJ-Z]))[.!?…؟]++[”’»\"')\]]*+(?=\s|$)"
    r"|(?<![。！？])[。！？]++[”’」』）]*+(?![，、；：])|\n)\s*+"
)
ENDS_WIDE = regex.compile(r"[。！？，；：、」』）]$|[\p{Han}。！？，；：、」』）][”’]+$")


def cut_sentences(text: str) -> list[str]:
    """Return the sentences with their trailing whitespace; joined they give `text`. A newline ends a sentence too."""
    stops = (match.end() for match in SENTENCE_END.finditer(text))
    return [text[start:end] for start, end in pairwise([0, *stops, len(text)]) if start < end]


def split_sentences(text: str) -> list[str]:
    """Return the sentences, stripped, without empty ones."""
    return [sentence for part in cut_sentences(text) if (sentence := part.strip())]


def join_sentences(sentences: Iterable[str]) -> str:
    """Return the sentences as one text, separated by spaces except after full-width marks, also within quotes."""
    text = ""
    for sentence in sentences:
        text += sentence if not text or ENDS_WIDE.search(text) else f" {sentence}"
    return text


# -- quoting what people, files and models wrote, so that a prompt contains it as data and not as instructions

# Mathematical, circled and full-width letters, which NFKD turns into plain ones.
DRESSED = [
    chr(code)
    for start, end in ((0x24B6, 0x24EA), (0xFF21, 0xFF5B), (0x1D400, 0x1D6A4))
    for code in range(start, end)
]


def _letter(plain: str, alike: str) -> str:
    dressed = (letter for letter in DRESSED if unicodedata.normalize("NFKC", letter).casefold() == plain)
    return f"[{plain}{alike}{''.join(dressed)}]"


# The opening bracket of a tag of Kith's own blocks, in any spelling that a model may still read as one. Each gap is
# scanned once per mark, since gaps contain neither brackets nor letters.
GAP = r"[\s\p{C}\p{M}\p{Default_Ignorable_Code_Point}]"
ALIKE = {"k": "кκᴋ", "i": "ıіɪι", "t": "тτᴛ", "h": "һнʜ"}
LETTERS = rf"{GAP}*+".join(_letter(plain, alike) for plain, alike in ALIKE.items())
BLOCK_MARK = regex.compile(
    rf"[<＜﹤‹˂〈〈⟨❬❮❰⧼ᐸ≺≮](?={GAP}*+[/／⁄∕⧸╱]?{GAP}*+{LETTERS}{GAP}*[\p{{Pd}}\u00ad\u2212\u02d7\u2043ー_])",
    regex.IGNORECASE,
)

# Kith's name as a person would read it within another name: in one piece, or spread out letter by letter.
READ_ALIKE = {"k": ALIKE["k"], "i": ALIKE["i"] + "l1|!", "t": ALIKE["t"] + "†", "h": ALIKE["h"]}
READ = [f"[{plain}{alike}]" for plain, alike in READ_ALIKE.items()]
SIGNS, GAPS = r"[^\p{L}\p{N}\s]*?", r"[^\p{L}\p{N}]+?"
OWN_NAME = regex.compile(rf"{SIGNS.join(READ)}|(?<!\p{{L}}){GAPS.join(READ)}(?!\p{{L}})")
NOT_SEEN = regex.compile(r"[\p{C}\p{M}\p{Default_Ignorable_Code_Point}]")

TAIL_CHARACTERS = 200  # at a text's end, in which a block's tag may begin
MARK_RESTS = ("kith-", "ith-", "th-", "h-", "-")  # what a following text may complete such a tag with

# A string, also one that was cut, or a full-width mark, as Chinese models write it, between a key or value and the next.
STRING_OR_WIDE_MARK = re.compile(
    r'"(?:[^"\\]|\\.)*"?|(?<=["\]}\d])\s*[：，](?=\s*["\[{\d-]|\s*(?:true|false|null)\b)', re.DOTALL
)

LINE_END = re.compile("[\x85\u2028\u2029]")  # the line ends that JSON does not escape


def neutral(text: str) -> str:
    """Return the text, of unchanged length, with nothing in it that could pass for a tag of Kith's own blocks."""
    return BLOCK_MARK.sub("(", text)


def neutral_beside(text: str) -> str:
    """Return the text neutralised so that it cannot form a tag together with a text that directly follows it either."""
    text = neutral(text)
    text, tail = text[:-TAIL_CHARACTERS], text[-TAIL_CHARACTERS:]
    for rest in MARK_RESTS:
        tail = neutral(tail + rest)[: -len(rest)]
    return text + tail


def reads_like_kith(text: str) -> bool:
    """Return whether a person would read Kith's name in a name, e.g. in look-alike letters or with invisible ones."""
    return bool(OWN_NAME.search(NOT_SEEN.sub("", unicodedata.normalize("NFKD", folded(text)))))


def one_line(text: str) -> str:
    """Return the text, neutralised, in one line, so that e.g. a name cannot start a rule or a memory in a prompt."""
    return " ".join(neutral(text).split())


def quoted(text: str) -> str:
    """Return the text as one line in quotation marks."""
    return LINE_END.sub(" ", json.dumps(neutral(text), ensure_ascii=False))


def narrow_marks(text: str) -> str:
    """Return text that is no valid JSON with the commas and colons between its strings and numbers as JSON has them."""
    return STRING_OR_WIDE_MARK.sub(
        lambda part: part[0] if part[0].startswith('"') else unicodedata.normalize("NFKC", part[0]), text
    )


def block(name: str, lines: list[str]) -> str:
    """Return the lines as one of Kith's own blocks, or "" if there are none."""
    return "\n".join([f"<kith-{name}>", *lines, f"</kith-{name}>"]) if lines else ""
