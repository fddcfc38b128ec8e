"""Earlier versions of a companion's character: load them, compare their texts and restore one."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import regex
from django.db import transaction

from companions.conversations.revisions import SAME, Piece, compare
from companions.models import CharacterVersion, Companion
from companions.models.companion import CHARACTER_FIELDS

PASSAGE = regex.compile(r"[^\n.!?。！？…]*[.!?。！？…]*[\"'”’」』)\]*]*[^\S\n]*|\n")
MAX_PASSAGES = 400  # of one text; comparing takes time in the square of their number
AROUND = 1  # unchanged passages shown before and after each changed one
SKIPPED = Piece("…", SAME)


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that differs between two versions: its label, and its passages, each as pieces."""

    label: str
    passages: Sequence[Sequence[Piece]]


def label_of(name: str) -> str:
    """Return the label of the character field `name` in the active language."""
    label = str(getattr(Companion._meta.get_field(name), "verbose_name", name))
    return label[:1].upper() + label[1:]


def get_texts(companion: Companion) -> dict[str, Any]:
    """Return the current texts of a companion's character by field name."""
    return {name: getattr(companion, name) for name in CHARACTER_FIELDS}


def find_later_texts(version: CharacterVersion) -> Mapping[str, Any]:
    """Return the texts that replaced the version: those of the next version, or the companion's current ones."""
    later = CharacterVersion.objects.filter(companion=version.companion_id, number__gt=version.number)
    following = later.order_by("number").first()
    return following.texts if following else get_texts(version.companion)


def compare_texts(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """Return the differences field by field. Fields that only one of the two has are skipped: older Kiths lack some."""
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
    """Restore the version's texts, keeping the current ones as a new version; return False if they are the same."""
    companion.lock()
    companion.refresh_from_db(fields=CHARACTER_FIELDS)
    texts = {name: version.texts[name] for name in CHARACTER_FIELDS if name in version.texts}
    if all(getattr(companion, name) == text for name, text in texts.items()):
        return False
    for name, text in texts.items():
        setattr(companion, name, text)
    companion.save(update_fields=list(texts), changed_by=CharacterVersion.By.RESTORE, now=now)
    return True


def _show(name: str, value: Any) -> str:
    """Return the value of the field `name` as text for display."""
    if isinstance(value, list):
        return "\n\n".join(value)
    return str(Companion.DepthRole(value).label) if name == "depth_prompt_role" else str(value)


def _compare(before: str, after: str) -> list[list[Piece]]:
    """Return the passages of both texts, each as pieces; very long texts are compared as one passage each."""
    old, new = _split(before), _split(after)
    return compare(old, new) if max(len(old), len(new)) <= MAX_PASSAGES else compare([before], [after])


def _split(text: str) -> list[str]:
    """Split a text into its sentences and lines, without blank ones."""
    return [passage.strip() for passage in PASSAGE.findall(text) if passage.strip()]


def _shorten(passages: Sequence[Sequence[Piece]]) -> Iterator[Sequence[Piece]]:
    """Yield the changed passages with `AROUND` neighbours each, and one `SKIPPED` for each run that is left out."""
    changed = [place for place, pieces in enumerate(passages) if any(piece.how != SAME for piece in pieces)]
    kept = {near for place in changed for near in range(place - AROUND, place + AROUND + 1)}
    is_skipping = False
    for place, pieces in enumerate(passages):
        if place in kept:
            yield pieces
        elif not is_skipping:
            yield [SKIPPED]
        is_skipping = place not in kept
