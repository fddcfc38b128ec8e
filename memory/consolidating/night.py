"""A night's work on one companion: claimed, asked, written in one transaction. Killed anywhere, it is done again."""

from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.db.models import F

from accounts.sparing import waits_until
from memory.consolidating.drafting import Lock, Step, drafted, found_for, write
from memory.models import Consolidation
from providers.errors import ProviderError

log = structlog.get_logger(__name__)

LEASE = timedelta(minutes=20)  # longer than any answer may take
SOON = timedelta(minutes=1)
MOST_TRIES, MOST_MINUTES = 8, 360
MOST_DRAFTS = 3  # in one run: whoever corrects and deletes meanwhile need not be outrun
BATCH = 200


def _nothing(_point: str) -> None:
    """What is done at each point, but in tests."""


def due(now: datetime, most: int = BATCH) -> list[tuple[UUID, UUID]]:
    """The nights that anybody may work on now, each as the ids of its companion and its own."""
    waiting = Consolidation.objects.filter(state=Consolidation.State.WAITING, next_at__lte=now)
    return list(waiting.order_by("next_at").values_list("companion_id", "pk")[:most])


def run(companion_id: UUID, night_id: UUID, now: datetime, lock: Lock, step: Step = _nothing) -> None:
    """Do a night's work if it is due: one model call at most, none where there is nothing to ask about.

    What goes wrong is written down, and tried again later, eight times. `lock` locks a companion and tells whether it is
    there; no transaction is open while the model thinks.
    """
    mine = Consolidation.objects.filter(
        companion_id=companion_id, state=Consolidation.State.WAITING, pk=night_id
    )
    if not mine.filter(next_at__lte=now).update(next_at=now + LEASE):
        return
    step("claimed")
    try:
        again_at = _work(companion_id, night_id, now, lock, step)
    except ProviderError as error:
        _put_off(companion_id, night_id, error.code, now)
    except Exception:
        _put_off(companion_id, night_id, "internal_error", now)
        raise
    else:
        if again_at:
            mine.update(next_at=again_at)


def _work(companion_id: UUID, night_id: UUID, now: datetime, lock: Lock, step: Step) -> datetime | None:
    """When it is to be gone on with; None where it is done, or gone."""
    for _try in range(MOST_DRAFTS):
        every = Consolidation.objects.filter(companion_id=companion_id).select_related("companion__user")
        night = every.filter(pk=night_id, state=Consolidation.State.WAITING).first()
        if night is None:
            return None
        found = found_for(night)
        step("gathered")
        if found and (tomorrow := waits_until(night.companion.user, now)):
            return tomorrow
        draft = drafted(night, found, now)
        step("asked")
        if write(night, draft, now, lock, step):
            step("ended")
            return None
    return now + SOON


def _put_off(companion_id: UUID, night_id: UUID, code: str, now: datetime) -> None:
    """Try again later, and later each time; after the last time the operator hears of it."""
    waiting = Consolidation.objects.filter(companion_id=companion_id, state=Consolidation.State.WAITING)
    mine = waiting.filter(pk=night_id)
    mine.update(attempts=F("attempts") + 1, error=code)
    night = mine.first()
    if night is None:
        return
    if night.attempts < MOST_TRIES:
        mine.update(next_at=now + timedelta(minutes=min(2**night.attempts, MOST_MINUTES)))
        return
    mine.update(state=Consolidation.State.FAILED, ended_at=now)
    log.error("night_failed", night_id=str(night_id), companion_id=str(companion_id), code=code)
