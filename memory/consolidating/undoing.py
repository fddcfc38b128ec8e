"""Undoing one thing that a night did: wholly, or, where it was changed since, not at all."""

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from memory.errors import UndoError
from memory.models import Change, Memory, Pursuit

Lock = Callable[[UUID], bool]

CHANGED = (
    "changed_since",
    _("This has been changed or deleted since, so it cannot be done any more. Nothing was changed."),
)
ALREADY = "already_undone", _("This was undone before.")
NOTHING = "nothing_to_undo", _("There is nothing to undo here yet.")
STANDS = "status", "progress", "excitement"


@transaction.atomic
def undo(companion_id: UUID, change_id: UUID, now: datetime, lock: Lock) -> Change:
    """The change, undone. A settled contradiction is open again, and can be settled otherwise.

    Raises UndoError, Change.DoesNotExist. `lock` locks the companion.
    """
    lock(companion_id)
    change, others = held(companion_id, change_id)
    if change.undone_at:
        raise UndoError(*ALREADY)
    HOW[Change.Kind(change.kind)](change, others, now)
    if change.kind != Change.Kind.CONTRADICTION:
        change.undone_at = now
    change.save(update_fields=["undone_at", "settled", "before"])
    return change


def held(companion_id: UUID, change_id: UUID) -> tuple[Change, list[Memory]]:
    """The change and the other memories that it is about, all locked and read anew; Change.DoesNotExist."""
    change = Change.objects.select_related("consolidation").get(companion_id=companion_id, pk=change_id)
    ids = [change.memory_id, *change.others.values_list("pk", flat=True)]
    mine = Memory.objects.of(companion_id).filter(pk__in=ids).order_by("pk")
    rows = {one.pk: one for one in mine.select_for_update(no_key=True)}
    if change.memory_id not in rows:
        raise Change.DoesNotExist
    change.memory = rows.pop(change.memory_id)
    return change, list(rows.values())


def _unmerge(change: Change, others: list[Memory], now: datetime) -> None:
    kept, before = change.memory, change.before
    is_as_left = (
        {"evidence": kept.evidence, "quotes": len(kept.quotes)} == before["became"]
        and len(others) == before["others"]
        and all(one.replaced_by_id == kept.pk for one in others)
    )
    if not is_as_left or not _holds(kept, change) or _is_edited_since(change, *others):
        raise UndoError(*CHANGED)
    kept.evidence, kept.quotes = before["evidence"], kept.quotes[: before["quotes"]]
    kept.save(update_fields=["evidence", "quotes"])
    kept.sources.remove(*kept.sources.filter(pk__in=before["sources"]))
    reopen(others)


def _let_go(change: Change, others: list[Memory], now: datetime) -> None:
    insight = change.memory
    if insight.evidence != 1 or not _holds(insight, change):
        raise UndoError(*CHANGED)
    insight.closed_at = now
    insight.save(update_fields=["closed_at"])


def _review_back(change: Change, others: list[Memory], now: datetime) -> None:
    pursuit = Pursuit.objects.filter(companion_id=change.companion_id, memory=change.memory).first()
    is_as_left = pursuit and {name: getattr(pursuit, name) for name in STANDS} == change.before["became"]
    if pursuit is None or not is_as_left or not _holds(change.memory, change):
        raise UndoError(*CHANGED)
    for name in (*STANDS, "reviewed_at"):
        setattr(pursuit, name, change.before[name])
    pursuit.save(update_fields=[*STANDS, "reviewed_at"])


def _unsettle(change: Change, others: list[Memory], now: datetime) -> None:
    if not change.settled:
        raise UndoError(*NOTHING)
    both = {str(one.pk): one for one in (change.memory, *others)}
    closed = both.get(change.before.get("closed", ""))
    if len(both) != 2 or _is_edited_since(change, *both.values()):
        raise UndoError(*CHANGED)
    if closed is not None:
        kept = next(one for one in both.values() if one is not closed)
        if closed.replaced_by_id != kept.pk or kept.closed_at:
            raise UndoError(*CHANGED)
        reopen([closed])
    change.settled, change.before = "", {}


def reopen(memories: list[Memory]) -> None:
    """Let them hold again."""
    for one in memories:
        one.closed_at, one.replaced_by = None, None
        one.save(update_fields=["closed_at", "replaced_by"])


def _holds(memory: Memory, change: Change) -> bool:
    return memory.closed_at is None and not _is_edited_since(change, memory)


def _is_edited_since(change: Change, *memories: Memory) -> bool:
    """Whether one of them was corrected after the night, or after the person settled it."""
    settled_at = change.before.get("settled_at")
    since = datetime.fromisoformat(settled_at) if settled_at else change.consolidation.ended_at
    return any(one.edited_at and since and one.edited_at > since for one in memories)


HOW: dict[Change.Kind, Callable[[Change, list[Memory], datetime], None]] = {
    Change.Kind.MERGED: _unmerge,
    Change.Kind.CONTRADICTION: _unsettle,
    Change.Kind.INSIGHT: _let_go,
    Change.Kind.REVIEWED: _review_back,
}
