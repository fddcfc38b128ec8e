"""Explain in plain sentences why lore entries came into a prompt, or matched and were left out.

Explanations are made of the output of `describe_scan`, which a reply's trace contains as well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from text.strings import join_sentences, shorten

NAME_CHARACTERS = 80
Text = str | Promise
Row = Mapping[str, Any]

SOURCES: dict[str, Text] = {
    "persona": gettext_lazy("in what you say about yourself"),
    "description": gettext_lazy("in the companion's description"),
    "personality": gettext_lazy("in the companion's personality"),
    "scenario": gettext_lazy("in the scenario"),
    "depth_prompt": gettext_lazy("in the note within the conversation"),
    "creator_notes": gettext_lazy("in the notes of the card's creator"),
}
REASONS: dict[str, Text] = {
    "constant": gettext_lazy("It is always read."),
    "sticky": gettext_lazy("It was triggered a few messages ago, and still applies."),
    "kept": gettext_lazy("It was triggered before, and has applied ever since."),
    "activate": gettext_lazy("Its text begins with @@activate, so it is always added."),
}
LOSSES: dict[str, Text] = {
    "secondary_keys": gettext_lazy("Its secondary keys do not match: %(detail)s."),
    "additional_keys": gettext_lazy("It also needs one of these: %(detail)s."),
    "exclude_keys": gettext_lazy("It is left out when “%(detail)s” appears."),
    "exclude_keys_all": gettext_lazy("It is left out when all of these appear: %(detail)s."),
    "dont_activate": gettext_lazy("Its text begins with @@dont_activate, so it is never added."),
    "dont_activate_after_match": gettext_lazy("It is added only once, and that has already happened."),
    "is_greeting": gettext_lazy("It belongs to another greeting."),
    "activate_only_after": gettext_lazy("It waits until the companion has answered %(detail)s times."),
    "activate_only_every": gettext_lazy("It is added only once every %(detail)s answers."),
    "character_filter": gettext_lazy("It is not meant for this companion."),
    "trigger": gettext_lazy("It is not meant for an ordinary answer."),
    "delay": gettext_lazy("It waits until the talk is longer."),
    "cooldown": gettext_lazy("It was added a short while ago, and is resting."),
    "outlet": gettext_lazy("It is meant for an outlet, and Kith has none."),
    "probability": gettext_lazy(
        "Chance decides, and was against it this time: it is added %(detail)s times out of 100."
    ),
    "stopped": gettext_lazy("Matching all lorebooks took too long, and was stopped before this entry."),
    "budget": gettext_lazy("There was no room for it: it has %(detail)s word pieces."),
    "max_context": gettext_lazy("It is the first to go when room is short: it has %(detail)s word pieces."),
}
PATTERNS: dict[str, Text] = {
    "pattern_invalid": gettext_lazy("this pattern cannot be read."),
    "pattern_flag": gettext_lazy("a pattern cannot have the flags d, v or y."),
    "pattern_too_large": gettext_lazy("this pattern is too long, or repeats too much."),
    "pattern_too_slow": gettext_lazy("this pattern takes too long."),
    "patterns_stopped": gettext_lazy("the patterns of this lorebook took too long, and were stopped."),
    "too_many_patterns": gettext_lazy("this lorebook has too many patterns."),
}
PLACES: dict[str, Text] = {
    "before_desc": gettext_lazy("before the description"),
    "after_desc": gettext_lazy("after the description"),
    "personality": gettext_lazy("with the personality"),
    "scenario": gettext_lazy("with the scenario"),
    "before_examples": gettext_lazy("before the example dialogue"),
    "after_examples": gettext_lazy("after the example dialogue"),
}


@dataclass(frozen=True, slots=True)
class Explained:
    """One entry that came in, or was left out, and why in words."""

    entry_id: str
    book_id: str
    name: str
    code: str  # why it came in, or why it was left out
    why: str  # one or two sentences
    place: str = ""  # where it came in, in words


@dataclass(frozen=True, slots=True)
class Explanation:
    """The entries that came in, in the order of the prompt, and those that matched and were left out."""

    placed: Sequence[Explained] = ()
    dropped: Sequence[Explained] = ()

    def __bool__(self) -> bool:
        return bool(self.placed or self.dropped)


def explain(lore: Row) -> Explanation:
    """Return the explanation of a scan, given as by `describe_scan` or as a reply's `lore`."""
    placed, dropped = lore.get("placed") or (), lore.get("dropped") or ()
    names = {row["entry"]: row["name"] for row in (*placed, *dropped)}

    def name(key: str) -> str:
        return shorten(names.get(key) or _("another entry"), NAME_CHARACTERS)

    return Explanation(
        [
            Explained(
                **_identify(row),
                code=row["reason"]["code"],
                why=_explain_reason(row["reason"], name),
                place=describe_place(row["place"], row["depth"]),
            )
            for row in placed
        ],
        [Explained(**_identify(row), code=row["code"], why=_explain_loss(row, name)) for row in dropped],
    )


def describe_pattern_problem(code: str) -> str:
    """Return in words what the code says is wrong with a pattern."""
    return str(PATTERNS[code])


def describe_place(place: str, depth: int | None) -> str:
    """Return in words where in the prompt an entry is."""
    if depth is None:
        return str(PLACES.get(place, place))
    if not depth:
        return _("at the end of the talk")
    sentence = ngettext(
        "in the talk, before its last message", "in the talk, before its last %(n)s messages", depth
    )
    return sentence % {"n": depth}


def _identify(row: Row) -> dict[str, str]:
    name = shorten(row["name"] or _("An entry without a name"), NAME_CHARACTERS)
    return {"entry_id": row["entry"].rpartition(":")[2], "book_id": row["book"], "name": name}


def _explain_reason(reason: Row, name: Callable[[str], str]) -> str:
    code, key = reason["code"], shorten(reason["key"], NAME_CHARACTERS)
    if code == "recursion":
        sentence = _("“%(key)s” appears in the entry “%(name)s”, which was added.")
        return sentence % {"key": key, "name": name(reason["entry"])}
    if code == "key":
        return _("“%(key)s” appears %(where)s.") % {"key": key, "where": _describe_passage(reason)}
    return str(REASONS.get(code, code))


def _describe_passage(reason: Row) -> str:
    """Return in words where the reason's key was found."""
    if reason["source"]:
        return str(SOURCES.get(reason["source"], reason["source"]))
    if not reason["message"]:
        return _("in what was just said")
    sentence = ngettext("one message back", "%(n)s messages back", reason["message"])
    return sentence % {"n": reason["message"]}


def _explain_loss(row: Row, name: Callable[[str], str]) -> str:
    """Return in sentences why an entry matched, if it did, and why it was left out."""
    code, detail = row["code"], row["detail"]
    called = [_explain_reason(row["reason"], name)] if row["reason"] else []
    if code in PATTERNS:
        lost = f"{shorten(detail, NAME_CHARACTERS)}: {describe_pattern_problem(code)}"
    elif code == "group":
        lost = _("Only one entry of its group is added, and that was “%(name)s”.") % {"name": name(detail)}
    elif code in LOSSES:
        lost = str(LOSSES[code]) % {"detail": shorten(detail, NAME_CHARACTERS)}
    else:
        lost = _("One of its rules leaves it out: %(code)s.") % {"code": code}
    return join_sentences([*called, lost])
