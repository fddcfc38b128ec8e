"""The active timers in a turn's prompt, without which a companion would guess whether one is set, or set it twice."""

from collections.abc import Sequence
from uuid import UUID

from companions.life.timers import describe, get_planned
from companions.models import Companion, Timer
from text.strings import quoted, shorten

MAX_TIMERS = 3  # shown one by one, those due first
MAX_NOTE_CHARACTERS = 120
TITLE = "These timers are set already:"


def load_running_timers(companion_id: UUID) -> list[Timer]:
    """Return the active timers that the person or the companion has set, the first due first."""
    return list(get_planned(companion_id).filter(by__in=[Timer.By.USER, Timer.By.COMPANION]))


def render_timers(timers: Sequence[Timer], companion: Companion) -> list[str]:
    """Return lines on when the first MAX_TIMERS timers are due in the person's zone, and what for; [] for no timers."""
    lines = [_render_timer(timer, companion) for timer in timers[:MAX_TIMERS]]
    more = [f"- and {len(timers) - MAX_TIMERS} more"] if len(timers) > MAX_TIMERS else []
    return [TITLE, *lines, *more] if lines else []


def _render_timer(timer: Timer, companion: Companion) -> str:
    assert timer.due_at is not None  # noqa: S101 (an active timer has one, by constraint)
    zone = companion.user.zone
    when = f"{timer.due_at.astimezone(zone):%a %d %b, %H:%M}"
    if timer.schedule.startswith("cron:"):
        when += f", {describe(timer, zone, 'en')}"
    return f"- {when}: {quoted(shorten(' '.join(timer.note.split()), MAX_NOTE_CHARACTERS))}"
