"""Tasks of lives, and the sweeps that find the work from rows. Each may run twice."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from companions.life import inner_state, outreach, reflection, timers, triggers, waking


@shared_task
def tick() -> None:
    """Claim what is due and hand it on, and look after wakings whose message was lost: every thirty seconds."""
    now = timezone.now()
    while claimed := [str(id) for id in timers.claim_timers(now, timers.CLAIMED_AT_ONCE)]:
        for start in range(0, len(claimed), timers.BEGUN_AT_ONCE):
            begin_wakings.delay(claimed[start : start + timers.BEGUN_AT_ONCE])
    for waking_id in waking.find_due(now):
        wake.delay(str(waking_id))


@shared_task
def begin_wakings(timer_ids: list[str]) -> None:
    """Make wakings of claimed timers."""
    for waking_id in timers.begin_wakings([UUID(id) for id in timer_ids], timezone.now()):
        wake.delay(str(waking_id))


@shared_task
def wake(waking_id: str) -> None:
    """Let one waking happen, or go on with it."""
    waking.run(UUID(waking_id), timezone.now(), clock=timezone.now)


@shared_task
def send_deliveries() -> None:
    """Reach whoever has not read what was written to them: the sweep."""
    outreach.send_due_deliveries(timezone.now())


@shared_task
def set_missing_timers() -> None:
    """Give whoever lacks them the timers of evening and morning."""
    timers.set_missing_predefined(timezone.now())


@shared_task
def reflect_upon(companion_id: str) -> None:
    """Let one companion reflect."""
    reflection.run(UUID(companion_id), timezone.now(), clock=timezone.now)


@shared_task
def reflect_waiting() -> None:
    """Let whoever is due reflect, and begin the inner states that are missing: the sweep."""
    now = timezone.now()
    inner_state.seed_missing(now)
    for companion_id in reflection.find_due_companions(now):
        reflect_upon.delay(str(companion_id))


@shared_task
def seek() -> None:
    """Look for what moves companions by themselves: the sweep."""
    now = timezone.now()
    while claimed := triggers.claim_companions(now, triggers.CLAIMED_AT_ONCE):
        for companion_id in claimed:
            seek_of.delay(str(companion_id))


@shared_task
def seek_of(companion_id: str) -> None:
    """Look for what moves one companion by itself."""
    waking_id = triggers.make_waking(UUID(companion_id), timezone.now())
    if waking_id:
        wake.delay(str(waking_id))
