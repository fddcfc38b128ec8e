"""One waking, step by step: claimed, thought over, ended in speech or in silence. Killed anywhere, it goes on."""

from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

import structlog
from django.db import IntegrityError
from django.db.models import F

from companions.life import skipping
from companions.life.awake import Awake, WakingOverError
from companions.life.checking import reminder
from companions.life.deciding import decide
from companions.life.speaking import speak
from companions.models import Waking
from companions.sessions.trying import MOST_ATTEMPTS, Clock, Lease, Step, again_at, counted, nothing
from providers.errors import ProviderError

log = structlog.get_logger(__name__)

BATCH = 200
LASTS = timedelta(minutes=5)  # longer than a model may take; each step renews it
BUSY = timedelta(seconds=15)  # until it is tried again to say something where a reply is made


def due(now: datetime, most: int = BATCH) -> list[UUID]:
    """The wakings that anybody may go on with now."""
    waiting = Waking.objects.waiting().filter(look_at__lte=now).order_by("look_at")
    return list(waiting.values_list("pk", flat=True)[:most])


def run(waking_id: UUID, now: datetime, step: Step = nothing, clock: Clock | None = None) -> None:
    """Go on with the waking if it is due. What goes wrong is written down, and it is tried again later.

    `now` is the time that the companion is told; leases, waits, and what is written count from what the clock says then,
    else from `now`.
    """
    row = Waking.objects.waiting().filter(pk=waking_id)
    lease = Lease.take(row, "look_at", clock or (lambda: now), LASTS)
    if lease is None:
        return
    step("claimed")
    try:
        with counted(partial(_note_failure, lease)), suppress(WakingOverError):
            _go_on(waking_id, lease, now, step)
    except IntegrityError:
        if Waking.objects.filter(pk=waking_id).exists():
            raise  # else its companion was deleted while the model thought


def _go_on(waking_id: UUID, lease: Lease, now: datetime, step: Step) -> None:
    awake = _as_it_stands(waking_id, lease)
    if awake is None:
        return
    waking = awake.waking
    reason = None if waking.steps or waking.text else skipping.reason(waking, awake.companion, now)
    plain = reminder(awake) if reason == skipping.Reason.NO_TOKENS else ""
    if reason and not plain:
        _end(awake, state=Waking.State.SKIPPED, reason=reason)
        return
    awake.write(started_at=waking.started_at or now, text=waking.text or plain)
    step("started")
    text = waking.text or _decided(awake, now, step)
    if not text:
        _end(awake, state=Waking.State.DONE, outcome=Waking.Outcome.SILENT)
    elif outcome := speak(awake, text, lease.clock(), step):
        _log(awake, state=Waking.State.DONE, outcome=outcome)
    else:
        lease.give_back(lease.clock() + BUSY)
    step("ended")


def _decided(awake: Awake, now: datetime, step: Step) -> str:
    """What is to be said; where the model fails again, the bare reminder of what was asked for."""
    try:
        return decide(awake, now, step)
    except ProviderError:
        plain = reminder(awake) if awake.waking.attempts else ""
        if not plain:
            raise
        awake.write(text=plain)
        return plain


def _as_it_stands(waking_id: UUID, lease: Lease) -> Awake | None:
    related = ("companion__user", "companion__life", "timer__message", "about__message")
    waking = Waking.objects.waiting().select_related(*related).filter(pk=waking_id).first()
    return Awake(waking, waking.companion, lease) if waking else None


def _end(awake: Awake, **fields: str) -> None:
    awake.lease.give_back(None, ended_at=awake.lease.clock(), **{"reason": "", **fields})
    _log(awake, **fields)


def _log(awake: Awake, **fields: str) -> None:
    ids = {"waking_id": str(awake.waking.pk), "companion_id": str(awake.companion.pk)}
    log.info("waking ended", **ids, **{name: str(value) for name, value in fields.items()})


def _note_failure(lease: Lease, code: str) -> None:
    """Count the try; after the last one the operator is told, and the companion has not woken."""
    lease.mine.update(attempts=F("attempts") + 1, reason=code)
    waking = lease.mine.first()
    if waking is None:
        return
    if waking.attempts < MOST_ATTEMPTS:
        lease.give_back(again_at(waking.attempts, lease.clock()))
        return
    lease.give_back(None, state=Waking.State.FAILED, ended_at=lease.clock())
    ids = {"waking_id": str(waking.pk), "companion_id": str(waking.companion_id)}
    log.error("waking_failed", **ids, code=code)
