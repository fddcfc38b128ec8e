"""Undoing one change of a run, as a whole or, if it was altered since, not at all; and settling a contradiction."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from memory.consolidation.changes import STANDING
from memory.errors import UndoError
from memory.models import Change, Memory, Pursuit
from memory.store import CHANGED, reopen, retract
from memory.threads import move_thread

ALREADY = "already_undone", _("This has already been undone.")
NOTHING = "nothing_to_undo", _("There is nothing to undo here yet.")
SETTLED = "already_settled", _("This has already been settled. To settle it differently, undo that first.")
NO_CONTRADICTION = "no_contradiction", _("Only contradictions can be settled.")


@transaction.atomic
def undo(companion_id: UUID, change_id: UUID, now: datetime) -> Change:
    """Undo the change. A settled contradiction becomes open again, and can be settled in another way.

    Call it with the companion locked. Raise UndoError, Change.DoesNotExist.
    """
    change, others = _load(companion_id, change_id)
    if change.undone_at:
        raise UndoError(*ALREADY)
    {
        Change.Kind.MERGED: _undo_merge,
        Change.Kind.CONTRADICTION: _undo_settling,
        Change.Kind.INSIGHT: _close_insight,
        Change.Kind.REVIEWED: _undo_review,
    }[Change.Kind(change.kind)](change, others, now)
    if change.kind != Change.Kind.CONTRADICTION:
        change.undone_at = now
    change.save(update_fields=["undone_at", "settled", "before"])
    return change


@transaction.atomic
def settle(companion_id: UUID, change_id: UUID, keep: Change.Settled, now: datetime) -> Change:
    """Settle a contradiction: unless both memories hold, close the other one and link it to the one to `keep`.

    Call it with the companion locked. Raise UndoError, Change.DoesNotExist.
    """
    change, others = _load(companion_id, change_id)
    if change.kind != Change.Kind.CONTRADICTION:
        raise UndoError(*NO_CONTRADICTION)
    if change.settled:
        raise UndoError(*SETTLED)
    both = [change.memory, *others]
    if len(both) != 2 or any(memory.closed_at for memory in both):
        raise UndoError(*CHANGED)
    change.settled, change.before = keep, {"settled_at": now.isoformat()}
    if keep != Change.Settled.BOTH:
        kept, other = both if keep == Change.Settled.A else reversed(both)
        retract(other, now, replaced_by=kept)
        change.before["closed"] = str(other.pk)
    change.save(update_fields=["settled", "before"])
    return change


def _load(companion_id: UUID, change_id: UUID) -> tuple[Change, list[Memory]]:
    """Return the change and its other memories; all its memories are locked. Raise Change.DoesNotExist if gone."""
    change = Change.objects.select_related("consolidation").get(companion_id=companion_id, pk=change_id)
    ids = [change.memory_id, *change.others.values_list("pk", flat=True)]
    mine = Memory.objects.of(companion_id).filter(pk__in=ids).order_by("pk")
    rows = {memory.pk: memory for memory in mine.select_for_update(no_key=True)}
    if change.memory_id not in rows:
        raise Change.DoesNotExist
    change.memory = rows.pop(change.memory_id)
    return change, list(rows.values())


def _undo_merge(change: Change, others: list[Memory], now: datetime) -> None:
    kept, before = change.memory, change.before
    is_as_left = (
        {"evidence": kept.evidence, "quotes": len(kept.quotes)} == before["became"]
        and len(others) == before["others"]
        and all(other.replaced_by_id == kept.pk for other in others)
    )
    if not is_as_left or kept.closed_at or _is_edited_since(change, kept, *others):
        raise UndoError(*CHANGED)
    kept.evidence, kept.quotes = before["evidence"], kept.quotes[: before["quotes"]]
    kept.save(update_fields=["evidence", "quotes"])
    kept.sources.remove(*kept.sources.filter(pk__in=before["sources"]))
    for other in others:
        reopen(other)
        if str(other.pk) == before.get("thread_of"):
            move_thread(kept, other)


def _close_insight(change: Change, others: list[Memory], now: datetime) -> None:
    insight = change.memory
    if insight.evidence != 1 or insight.closed_at or _is_edited_since(change, insight):
        raise UndoError(*CHANGED)
    retract(insight, now)


def _undo_review(change: Change, others: list[Memory], now: datetime) -> None:
    memory = change.memory
    goal = Pursuit.objects.filter(companion_id=change.companion_id, memory=memory).first()
    is_as_left = goal and {name: getattr(goal, name) for name in STANDING} == change.before["became"]
    if goal is None or not is_as_left or memory.closed_at or _is_edited_since(change, memory):
        raise UndoError(*CHANGED)
    for name in (*STANDING, "reviewed_at"):
        setattr(goal, name, change.before[name])
    goal.save(update_fields=[*STANDING, "reviewed_at"])


def _undo_settling(change: Change, others: list[Memory], now: datetime) -> None:
    if not change.settled:
        raise UndoError(*NOTHING)
    both = {str(memory.pk): memory for memory in (change.memory, *others)}
    closed = both.get(change.before.get("closed", ""))
    if len(both) != 2 or _is_edited_since(change, *both.values()):
        raise UndoError(*CHANGED)
    if closed is not None:
        kept = next(memory for memory in both.values() if memory is not closed)
        if closed.replaced_by_id != kept.pk or kept.closed_at:
            raise UndoError(*CHANGED)
        reopen(closed)
    change.settled, change.before = "", {}


def _is_edited_since(change: Change, *memories: Memory) -> bool:
    """Return whether one of the memories was corrected after the run, or after the person settled the contradiction."""
    settled_at = change.before.get("settled_at")
    since = datetime.fromisoformat(settled_at) if settled_at else change.consolidation.ended_at
    return any(memory.edited_at and since and memory.edited_at > since for memory in memories)
