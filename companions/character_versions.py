"""Versions of a companion's character: what changed with each, what two differ in, and one that holds again."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import regex
from django.db import transaction

from companions.conversations.revisions import SAME, Piece, compare
from companions.models import CharacterVersion, Companion
from companions.models.companion import CHARACTER_FIELDS, lock

PASSAGE = regex.compile(r"[^\n.!?。！？…]*[.!?。！？…]*[\"'”’」』)\]*]*[^\S\n]*|\n")
MAX_PASSAGES = 400  # of a text; to compare takes the square of them
AROUND = 1  # passages that stay as they were, shown beside one that changed
SKIPPED = Piece("…", SAME)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that a change wrote, by its label, and its passages in both, each as pieces."""

    label: str
    passages: Sequence[Sequence[Piece]]


def label_of(name: str) -> str:
    """Return what a field of a character is called, in the active language."""
    label = str(getattr(Companion._meta.get_field(name), "verbose_name", name))
    return label[:1].upper() + label[1:]


def get_texts(companion: Companion) -> dict[str, Any]:
    """Return the texts of a companion's character as they are."""
    return {name: getattr(companion, name) for name in CHARACTER_FIELDS}


def find_later_texts(version: CharacterVersion) -> Mapping[str, Any]:
    """Return the texts that came after the version: those of the next, or those that hold."""
    later = CharacterVersion.objects.filter(companion=version.companion_id, number__gt=version.number)
    following = later.order_by("number").first()
    return following.texts if following else get_texts(version.companion)


def compare_texts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return what differs, field by field; what an older Kith did not write is left out."""
    differing = [
        name for name in CHARACTER_FIELDS if name in before and name in after and before[name] != after[name]
    ]
    return [
        Difference(
            label_of(name), list(_shorten(_compare(_show(name, before[name]), _show(name, after[name]))))
        )
        for name in differing
    ]


@transaction.atomic
def restore_version(companion: Companion, version: CharacterVersion, now: datetime) -> bool:
    """Let the version's texts hold again; what stood there becomes a version. False where they held already."""
    lock(companion.pk)
    companion.refresh_from_db(fields=CHARACTER_FIELDS)
    texts = {name: version.texts[name] for name in CHARACTER_FIELDS if name in version.texts}
    if all(getattr(companion, name) == text for name, text in texts.items()):
        return False
    for name, text in texts.items():
        setattr(companion, name, text)
    companion.save(update_fields=list(texts), changed_by=CharacterVersion.By.RESTORE, now=now)
    return True


def _show(name: str, value: Any) -> str:
    """Return the value of a field as a text to be read."""
    if isinstance(value, list):
        return "\n\n".join(value)
    return str(Companion.DepthRole(value).label) if name == "depth_prompt_role" else str(value)


def _compare(before: str, after: str) -> list[list[Piece]]:
    """Return the passages of both; very long texts are compared as two wholes."""
    old, new = _split(before), _split(after)
    return compare(old, new) if max(len(old), len(new)) <= MAX_PASSAGES else compare([before], [after])


def _split(text: str) -> list[str]:
    """Return the sentences and lines that are not blank."""
    return [passage.strip() for passage in PASSAGE.findall(text) if passage.strip()]


def _shorten(passages: Sequence[Sequence[Piece]]) -> Iterator[Sequence[Piece]]:
    """Yield what changed with a little around it, and a mark for what is left out."""
    changed = [n for n, pieces in enumerate(passages) if any(piece.how != SAME for piece in pieces)]
    kept = {near for n in changed for near in range(n - AROUND, n + AROUND + 1)}
    is_skipping = False
    for n, pieces in enumerate(passages):
        if n in kept:
            yield pieces
        elif not is_skipping:
            yield [SKIPPED]
        is_skipping = n not in kept
