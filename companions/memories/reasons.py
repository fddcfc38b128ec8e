"""Explain in plain words why a memory was recalled, and name the numbers behind its score."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, pgettext_lazy

from memory.recall.traits import tells_something

MAX_WORDS = 6
DATE = "@"  # the first character of a term that is a date (text.dates)
MAX_WHOLE_STEM = 4  # a longer stem may end in another letter than its word: "stori" of "story"
ON_THE_DAY = 3.0  # the score of a memory on a named day (memory.recall.relevance); it is less on days near it
NEAR_THE_DAY = 1.0
MIN_SHOWN = 0.005  # a smaller part would be shown as 0.00

# A part of the score is mentioned if it is at least this large.
PART_WORDS: dict[str, tuple[float, Promise]] = {
    "answers": (0.2, gettext_lazy("answers a question like this")),
    "speaker": (0.1, gettext_lazy("said by the one you asked about")),
    "numbers": (0.1, gettext_lazy("says how many")),
    "times": (0.1, gettext_lazy("says when")),
    "talks": (0.5, gettext_lazy("from a talk about it")),
    "pinned": (0.1, gettext_lazy("pinned")),
}
# A factor is mentioned if it is at most the first number (by the words after it), or at least the second one.
FACTOR_WORDS: dict[str, tuple[float, Promise | None, float, Promise]] = {
    "emotion": (0, None, 1.01, gettext_lazy("felt strongly")),
    "importance": (0.98, gettext_lazy("not so important"), 1.02, gettext_lazy("important")),
    "evidence": (0, None, 1.01, gettext_lazy("told more than once")),
}
PARTS: dict[str, Promise] = {
    "words": pgettext_lazy("part of a score", "words"),
    "meaning": pgettext_lazy("part of a score", "meaning"),
    "answers": pgettext_lazy("part of a score", "answer"),
    "speaker": pgettext_lazy("part of a score", "who said it"),
    "questions": pgettext_lazy("part of a score", "only asks"),
    "first_person": pgettext_lazy("part of a score", "about oneself"),
    "length": pgettext_lazy("part of a score", "length"),
    "numbers": pgettext_lazy("part of a score", "number"),
    "times": pgettext_lazy("part of a score", "time"),
    "dates": pgettext_lazy("part of a score", "date"),
    "talks": pgettext_lazy("part of a score", "talk"),
    "pinned": pgettext_lazy("part of a score", "pinned"),
    "spread": pgettext_lazy("part of a score", "next to another"),
}
FACTORS: dict[str, Promise] = {
    "recency": pgettext_lazy("factor of a score", "recency"),
    "retention": pgettext_lazy("factor of a score", "retention"),
    "emotion": pgettext_lazy("factor of a score", "feeling"),
    "importance": pgettext_lazy("factor of a score", "importance"),
    "evidence": pgettext_lazy("factor of a score", "times mentioned"),
}


@dataclass(frozen=True, slots=True)
class Named:
    """A formatted number of the reasons, with its name in the active language."""

    name: str
    value: str


def describe_reasons(reasons: Mapping[str, Any], text: str) -> str:
    """Return the reasons (see `memory.recall`) for which the memory with this text was recalled, as one line.

    The line is empty if there are none.
    """
    if reasons.get("flashback"):
        return _("came to mind unasked")
    if reasons.get("instead_of"):
        return _("tells how it is now")
    parts: Mapping[str, float] = reasons.get("parts") or {}
    is_alike = reasons.get("likeness") is not None and parts.get("meaning", 1) > 0
    said = [_("similar in meaning")] if is_alike else []
    said += _describe_matches(reasons, parts, text)
    said += [str(words) for name, (least, words) in PART_WORDS.items() if parts.get(name, 0) >= least]
    said += [_("understood from what was said before")] if reasons.get("with_talk") else []
    return _("; ").join([*said, *_describe_factors(reasons.get("factors") or {})])


def describe_bearing(reasons: Mapping[str, Any], text: str) -> str:
    """Return in one sentence what in a message brought the memory to mind; empty if the reasons do not tell."""
    if reasons.get("flashback"):
        return _("came to mind unasked")
    if reasons.get("instead_of"):
        return _("tells how it is now")
    matched = [str(term) for term in reasons.get("matched") or ()]
    telling = [term for term in matched if not term.startswith(DATE) and tells_something(term)]
    if words := _find_written(telling, text):
        return _("because you spoke of %(words)s") % {"words": _(", ").join(words[:MAX_WORDS])}
    if any(term.startswith(DATE) for term in matched):
        return _("because it was on the day you mentioned")
    if reasons.get("likeness") is not None:
        return _("because it is close to what you said")
    return ""


def list_parts(reasons: Mapping[str, Any]) -> list[Named]:
    """Return the summands of the score, in standard deviations above the average memory, the weightiest first.

    Summands whose absolute value is below MIN_SHOWN are left out.
    """
    parts: Mapping[str, float] = reasons.get("parts") or {}
    weighty = sorted(parts.items(), key=lambda part: -abs(part[1]))
    return [
        Named(str(PARTS.get(name, name)), f"{'−' if value < 0 else '+'}{number_format(abs(value), 2)}")
        for name, value in weighty
        if abs(value) >= MIN_SHOWN
    ]


def list_factors(reasons: Mapping[str, Any]) -> list[Named]:
    """Return the factors of the score that are not 1, in the order of FACTORS."""
    factors: Mapping[str, float] = reasons.get("factors") or {}
    known = [name for name in (*FACTORS, *(sorted(set(factors) - set(FACTORS)))) if factors.get(name, 1) != 1]
    return [
        Named(str(FACTORS.get(name, name)), f"×\u00a0{number_format(factors[name], 3)}") for name in known
    ]


def format_percent(share: float) -> str:
    """Return a share, clamped to 0 to 1, as whole per cent."""
    return f"{round(max(0.0, min(1.0, share)) * 100)}\u00a0%"


def _describe_matches(reasons: Mapping[str, Any], parts: Mapping[str, float], text: str) -> list[str]:
    """Return phrases on the words and days that cue and memory share, or that only the talk around the memory has."""
    matched = [str(term) for term in reasons.get("matched") or ()]
    said = []
    if words := _find_written([term for term in matched if not term.startswith(DATE)], text):
        said.append(_("words in common: %(words)s") % {"words": _(", ").join(words[:MAX_WORDS])})
    elif parts.get("words", 0) > 0 and not matched:
        said.append(_("what was said around it matches"))
    if parts.get("dates", 0) >= ON_THE_DAY:
        said.append(_("on the day mentioned"))
    elif any(term.startswith(DATE) for term in matched):
        said.append(_("the same date"))
    elif parts.get("dates", 0) >= NEAR_THE_DAY:
        said.append(_("near the day mentioned"))
    return said


def _describe_factors(factors: Mapping[str, float]) -> list[str]:
    said: list[str] = []
    for name, (least, below, most, above) in FACTOR_WORDS.items():
        value = factors.get(name, 1)
        if value >= most:
            said.append(str(above))
        elif below and value <= least:
            said.append(str(below))
    return said


def _find_written(terms: Sequence[str], text: str) -> list[str]:
    """Return the distinct words of the text from which these terms come, in the order of the terms.

    The terms are stems, whose first word is taken, or pairs of characters, which are one word where they overlap.
    """
    spans: list[tuple[int, int]] = []
    for term in terms:
        stem = re.escape(term[:-1] if term.isascii() and len(term) > MAX_WHOLE_STEM else term)
        found = re.finditer(rf"\b{stem}\w*" if term.isascii() else stem, text, re.IGNORECASE)
        spans += [match.span() for match in islice(found, 1 if term.isascii() else None)]
    words: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if words and start < words[-1][1]:
            start, ended = words.pop()
            end = max(end, ended)
        words.append((start, end))
    written = (next(text[start:end] for start, end in words if start <= at < end) for at, _ in spans)
    return list(dict.fromkeys(written))
