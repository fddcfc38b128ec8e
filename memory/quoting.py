"""Quoting what people, files and models wrote, so that in a prompt it stays material. Pure."""

import json
import re

# A block's mark in any of the ways in which a model may still read it as one.
GAP = r"[\s\u00ad\u200b-\u200f\u2060-\u2064\ufeff]{0,8}"
MARK = re.compile(rf"[<＜]({GAP}[/／]?{GAP}kith{GAP}[-‐‑－])", re.IGNORECASE)

LINE_END = re.compile("[\x85\u2028\u2029]")  # those that JSON leaves as they are


def neutral(text: str) -> str:
    """The text with nothing in it that could pass for a block of Kith's own."""
    return MARK.sub(r"‹\1", text)


def one_line(text: str) -> str:
    """The text, neutral, in one line: a name cannot begin a rule or a memory of its own."""
    return " ".join(neutral(text).split())


def quoted(text: str) -> str:
    """The text as one line in quotation marks."""
    return LINE_END.sub(" ", json.dumps(neutral(text), ensure_ascii=False))


def block(name: str, lines: list[str]) -> str:
    """Lines as a block of Kith's own; nothing for no lines."""
    return "\n".join([f"<kith-{name}>", *lines, f"</kith-{name}>"]) if lines else ""
