"""Histories of text-generation-webui (Oobabooga): pairs of the person's and the character's messages, without names.

`internal` contains the plain texts, `visible` the texts as displayed, in HTML; `metadata` has times and alternatives.
"""

import html
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pasts.collector import Collector
from pasts.json_scan import Piece, as_list, as_mapping, as_text
from pasts.past import MAX_MESSAGES, PastFormatError
from pasts.times import read_time

PAIRS = re.compile(rb"\[\s*\[")
NAMES = (("internal", "data"), ("visible", "data_visible"))
SIDES = (("user", True), ("assistant", False))
NOTHING_SAID = "<|BEGIN-VISIBLE-CHAT|>"  # instead of a message of the person before a greeting


def is_history(fields: Mapping[str, bytes]) -> bool:
    """Return whether an object with these keys and beginnings of values is such a history, of old or new versions."""
    return bool(PAIRS.match(fields.get("internal", b""))) or fields.keys() >= {"data", "data_visible"}


def read_history(collector: Collector, root: Piece) -> None:
    """Read the history. Raise PastFormatError."""
    fields = dict(root.members())
    pairs, shown = (fields.get(name, fields.get(old)) for name, old in NAMES)
    metadata = as_mapping(fields["metadata"].load()) if "metadata" in fields else {}
    is_shown = pairs is None or next(pairs.elements(), None) is None  # only the displayed texts were saved
    chosen = shown if is_shown else pairs
    leaf: str | None = None
    for number, pair in enumerate(chosen.elements() if chosen else ()):
        if number >= MAX_MESSAGES:
            raise PastFormatError("too_many_messages")
        texts = as_list(pair.load())
        for text, (role, is_person) in zip(texts, SIDES, strict=False):
            about = as_mapping(metadata.get(f"{role}_{number}"))
            if about.get("attachments"):
                collector.remarks.add("files_left_out")
            said = html.unescape(as_text(text)) if is_shown else as_text(text)
            parent = leaf
            for place, version in enumerate(_list_versions(said, about)):
                given = collector.add(
                    f"{number}.{role}" + (f".{place}" if place else ""),
                    parent=parent,
                    speaker=role,
                    is_person=is_person,
                    text=version.text,
                    at=version.at,
                )
                leaf = (given or leaf) if place == 0 else leaf
    collector.end(title="", leaf=leaf)


class Version(NamedTuple):
    text: str
    at: datetime | None


def _list_versions(said: str, about: dict[str, Any]) -> Iterator[Version]:
    """Yield the chosen version of a message, then its alternatives with different texts."""
    if said == NOTHING_SAID:
        return
    yield Version(said, read_time(about.get("timestamp")))
    known = {said.strip()}
    for version in map(as_mapping, as_list(about.get("versions"))):
        text = as_text(version.get("content"))
        if text.strip() not in known:
            known.add(text.strip())
            yield Version(text, read_time(version.get("timestamp")))
