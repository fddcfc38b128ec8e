"""Why a memory came to mind, in plain words."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

WORDS_NAMED = 6
DATE = "@"  # begins a term that is a date (memory.dates)
SHORT = 4  # a longer stem may end in another letter than its word: "stori" of "story"


def in_words(reasons: Mapping[str, Any], text: str) -> str:
    """The reasons (see memory.recall) for this memory's text as one line; empty where there are none."""
    parts = []
    if reasons.get("likeness") is not None:
        parts.append(_("alike in meaning: %(share)s") % {"share": as_percent(reasons["likeness"])})
    matched = [str(term) for term in reasons.get("matched") or ()]
    if words := _as_written([term for term in matched if not term.startswith(DATE)], text):
        parts.append(_("words in common: %(words)s") % {"words": _(", ").join(words[:WORDS_NAMED])})
    if any(term.startswith(DATE) for term in matched):
        parts.append(_("the same date"))
    return _("; ").join(parts)


def as_percent(share: float) -> str:
    """A share from 0 to 1 in whole per cent."""
    return f"{round(max(0.0, min(1.0, share)) * 100)}\u00a0%"


def _as_written(terms: Sequence[str], text: str) -> list[str]:
    """The words of the text that these terms (stems, or pairs of characters) come from, each once."""
    found = (re.search(_pattern(term), text, re.IGNORECASE) for term in terms)
    return list(dict.fromkeys(word[0] for word in found if word))


def _pattern(term: str) -> str:
    if not term.isascii():
        return re.escape(term)
    return rf"\b{re.escape(term[:-1] if len(term) > SHORT else term)}\w*"
