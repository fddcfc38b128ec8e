"""Tasks of companions' lives, and the periodic sweeps that find work in the database. Each may run twice."""

from uuid import UUID

from celery import shared_task
from django.utils import timezone

from companions.life import clock, first_state, outreach, reflection, triggers
from companions.life.timers import timers
from companions.life.wakings import waking
from companions.models import Companion, Waking
from jobs.slots import Slots, in_model_slot

LANES, EXPIRE_SECONDS = 3, 30
SENDING = Slots[int](LANES)
# For wakings that somebody asked for, beside those of FOR_MODELS: one of a worker's threads is left to remind without a
# model, if others hang.
ASKED_FOR = Slots[str](3)


@shared_task
def tick() -> None:
    """Claim due timers and enqueue their wakings, and those whose task was lost. Runs every thirty seconds."""
    now = timezone.now()
    while claimed := [str(id) for id in timers.claim_timers(now, timers.CLAIMED_AT_ONCE)]:
        for start in range(0, len(claimed), timers.BEGUN_AT_ONCE):
            begin_wakings.delay(claimed[start : start + timers.BEGUN_AT_ONCE])
    for waking_id in waking.find_due(now):
        wake.delay(str(waking_id))


@shared_task
def begin_wakings(timer_ids: list[str]) -> None:
    """Create the wakings of claimed timers and enqueue them."""
    for waking_id in timers.begin_wakings([UUID(id) for id in timer_ids], timezone.now()):
        wake.delay(str(waking_id))


@shared_task
def wake(waking_id: str) -> None:
    """Run one waking, or continue it after an interruption, in a slot of its kind.

    If somebody asked for it and there is no slot, it is enqueued once more when its turn comes; a reminder that has
    waited for long is sent without a model.
    """
    if Waking.objects.filter(pk=waking_id, is_asked_for=False).exists():
        wake_unasked(waking_id)
        return
    with ASKED_FOR.take(waking_id, pass_on=wake.delay) as is_free:
        waking.run(UUID(waking_id), timezone.now, has_slot=is_free)


@shared_task
@in_model_slot(Waking.objects.values_list("companion__user", flat=True))
def wake_unasked(waking_id: str) -> None:
    """Run one waking that nobody asked for, or continue it after an interruption."""
    waking.run(UUID(waking_id), timezone.now)


@shared_task
def send_deliveries() -> None:
    """Sweep: enqueue sending the due deliveries of messages that their person has not read, in a few lanes.

    So nobody waits for long for another's device, and devices that hang never take all of a worker's threads.
    """
    due = outreach.find_recipients(timezone.now())
    for lane in range(LANES):
        if theirs := due[lane::LANES]:
            send_deliveries_to.apply_async((lane, theirs), expires=EXPIRE_SECONDS)


@shared_task
def send_deliveries_to(lane: int, user_ids: list[int]) -> None:
    """Send these users' due deliveries, unless this process is still at work in the lane: the next sweep finds them."""
    with SENDING.take(lane) as is_free:
        if is_free:
            for user_id in user_ids:
                outreach.send_due_deliveries(timezone.now(), user_id)


@shared_task
def restore_times() -> None:
    """Sweep: bring back what the clock put off while it was ahead."""
    clock.restore_times(timezone.now())


@shared_task
def set_missing_timers() -> None:
    """Sweep: set the evening and morning timers of companions that lack them."""
    timers.set_missing_predefined(timezone.now())


@shared_task
@in_model_slot(Companion.objects.values_list("user", flat=True))
def reflect_upon(companion_id: str) -> None:
    """Let one companion reflect."""
    reflection.run(UUID(companion_id), timezone.now)


@shared_task
def reflect_waiting() -> None:
    """Sweep: enqueue the reflections that are due, and seed missing inner states."""
    now = timezone.now()
    first_state.seed_missing(now)
    for companion_id in reflection.find_due_companions(now):
        reflect_upon.delay(str(companion_id))


@shared_task
def seek() -> None:
    """Sweep: enqueue the search for occasions to wake of each companion that is due."""
    now = timezone.now()
    while claimed := triggers.claim_companions(now, triggers.CLAIMED_AT_ONCE):
        for companion_id in claimed:
            seek_of.delay(str(companion_id))


@shared_task
def seek_of(companion_id: str) -> None:
    """Look for an occasion for one companion to wake, and enqueue the waking if there is one."""
    waking_id = triggers.make_waking(UUID(companion_id), timezone.now())
    if waking_id:
        wake.delay(str(waking_id))
