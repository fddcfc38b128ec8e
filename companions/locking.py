"""One writer at a time for each companion."""

from typing import Any
from uuid import UUID

from companions.models import Companion
from memory.prepared import ONE, Prepared
from memory.together import Asked, alone, together

HELD = Prepared(lambda: Companion.objects.select_related("user", "conversation").filter(pk=ONE).order_by())
LOCK = "SELECT 1 FROM companions_companion WHERE id = %s FOR NO KEY UPDATE"


def locking(companion_id: UUID) -> Asked[bool]:
    """As `lock`, to be asked together with others."""
    return Asked(LOCK, [companion_id], bool)


def lock(companion_id: UUID) -> bool:
    """Whether the companion is there; it is nobody else's to change until the transaction ends.

    The lock lets rows be added that point at the companion (FOR NO KEY UPDATE).
    """
    return alone(locking(companion_id))


def hold(companion_id: UUID) -> Companion | None:
    """The companion with its user and conversation, locked."""
    companion, _ = hold_and_ask(companion_id)
    return companion


def hold_and_ask(companion_id: UUID, *asked: Asked[Any]) -> tuple[Companion | None, list[Any]]:
    """The same, and what was made of what was asked under the lock, in one trip.

    Locked first and read afterwards: what a locking query has joined is as it was before the lock was waited for.
    """
    _, companions, *made = together(locking(companion_id), HELD.asked({ONE: companion_id}), *asked)
    return next(iter(companions), None), made
