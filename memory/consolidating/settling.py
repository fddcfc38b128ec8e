"""Settling a contradiction: the person says which of the two memories holds, or that both do."""

from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from memory.consolidating.undoing import CHANGED, Lock, held
from memory.errors import UndoError
from memory.models import Change
from memory.revising import retract

SETTLED = "already_settled", _("This is settled already. Undo that first to settle it otherwise.")
NO_CONTRADICTION = "no_contradiction", _("Only what contradicts each other can be settled.")


@transaction.atomic
def settle(companion_id: UUID, change_id: UUID, keep: Change.Settled, now: datetime, lock: Lock) -> Change:
    """The change, settled: of one that holds, the other is closed, kept and linked to it. Nothing is deleted.

    Raises UndoError, Change.DoesNotExist. `lock` locks the companion.
    """
    lock(companion_id)
    change, others = held(companion_id, change_id)
    if change.kind != Change.Kind.CONTRADICTION:
        raise UndoError(*NO_CONTRADICTION)
    if change.settled:
        raise UndoError(*SETTLED)
    both = [change.memory, *others]
    if len(both) != 2 or any(one.closed_at for one in both):
        raise UndoError(*CHANGED)
    change.settled, change.before = keep, {"settled_at": now.isoformat()}
    if keep != Change.Settled.BOTH:
        kept, other = both if keep == Change.Settled.A else reversed(both)
        retract(other, now, replaced_by=kept)
        change.before["closed"] = str(other.pk)
    change.save(update_fields=["settled", "before"])
    return change
