"""Taking back what a companion's life has made from what goes; call it with the companion held."""

from datetime import datetime

from django.db.models import QuerySet

from companions.deletion.lived import Lived
from companions.life.inner_state import drop_states
from companions.models import Companion, Session, Timer, Waking

GONE = "gone"  # why a waking does not happen
RUNNING = (Timer.State.ACTIVE, Timer.State.SET_ASIDE)


def withdraw(companion: Companion, lived: Lived, now: datetime, *, is_seen: bool = False) -> None:
    """Timers are cancelled and wordless, inner states gone (see `drop_states`), wakings stay in the log without words.

    One under way ends if it was woken for what goes, and else begins anew. Where its person may go on to see what goes,
    what has happened keeps its words.
    """
    _cancel(Timer.objects.filter(companion=companion, pk__in=lived.timers), now)
    wakings = Waking.objects.filter(companion=companion, pk__in=lived.wakings | lived.wrote)
    _stop(wakings, lived, now)
    if not is_seen:
        wakings.update(**_wordless(), shown=[])
        wakings.filter(pk__in=lived.woken).update(note="", about=None)
        Session.objects.filter(companion=companion, waking__in=lived.wakings, messages=None).delete()
    if lived.states:
        drop_states(companion, lived.states)


def drop_pages(companion: Companion) -> None:
    """A session that stood behind a page alone is gone with it."""
    written = Session.objects.filter(companion=companion, waking__isnull=False)
    written.filter(diary_entry=None, messages=None).delete()


def _cancel(timers: QuerySet[Timer], now: datetime) -> None:
    timers.filter(state__in=RUNNING).update(state=Timer.State.CANCELLED, ended_at=now)
    timers.exclude(note="").update(note="")


def _stop(wakings: QuerySet[Waking], lived: Lived, now: datetime) -> None:
    """Whoever is at one of them finds that it is not theirs any more."""
    waiting = wakings.filter(state=Waking.State.WAITING)
    over = {"state": Waking.State.SKIPPED, "reason": GONE, "look_at": None, "ended_at": now}
    waiting.filter(pk__in=lived.woken).update(**over, **_wordless())
    waiting.exclude(pk__in=lived.woken).update(look_at=now, started_at=None, **_wordless())


def _wordless() -> dict[str, object]:
    return {"prompt": [], "steps": [], "thought": "", "text": ""}
