"""Quoting what people, files and models wrote, so that in a prompt it stays material. Pure."""

import json
import re
import unicodedata

import regex

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
LETTERS = rf"{GAP}*+".join(
    [_letter("k", "кκᴋ"), _letter("i", "ıіɪι"), _letter("t", "тτᴛ"), _letter("h", "һнʜ")]
)
MARK = regex.compile(
    rf"[<＜﹤‹˂〈〈⟨❬❮❰⧼ᐸ≺≮](?={GAP}*+[/／⁄∕⧸╱]?{GAP}*+{LETTERS}{GAP}*[\p{{Pd}}\u00ad\u2212\u02d7\u2043ー_])",
    regex.IGNORECASE,
)

LINE_END = re.compile("[\x85\u2028\u2029]")  # those that JSON leaves as they are


def neutral(text: str) -> str:
    """Return the text with nothing in it that could pass for a block of Kith's own; as long as it was."""
    return MARK.sub("(", text)


def one_line(text: str) -> str:
    """Return the text, neutral, in one line: a name cannot begin a rule or a memory of its own."""
    return " ".join(neutral(text).split())


def quoted(text: str) -> str:
    """Return the text as one line in quotation marks."""
    return LINE_END.sub(" ", json.dumps(neutral(text), ensure_ascii=False))


def block(name: str, lines: list[str]) -> str:
    """Return lines as a block of Kith's own; nothing for no lines."""
    return "\n".join([f"<kith-{name}>", *lines, f"</kith-{name}>"]) if lines else ""
