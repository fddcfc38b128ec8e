"""What has failed for good and waits for an operator: sessions, nights, wakings, and timers that were set aside."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from companions.models import Closing, Timer, Waking
from memory.models import Consolidation

RECENT_WINDOW = timedelta(days=7)


def find_failed_closings() -> QuerySet[Closing]:
    """Those of sessions that are open still and that nobody tries again."""
    open_still = Closing.objects.filter(state=Closing.State.FAILED, session__ended_at=None)
    return open_still.exclude(session__closings__state=Closing.State.WAITING)


def find_failed_consolidations() -> QuerySet[Consolidation]:
    """Those of the last week: a later night looks at what an earlier one did not."""
    since = timezone.now() - RECENT_WINDOW
    return Consolidation.objects.filter(state=Consolidation.State.FAILED, asked_at__gte=since)


def find_failed_wakings() -> QuerySet[Waking]:
    """Those of the last week."""
    since = timezone.now() - RECENT_WINDOW
    return Waking.objects.filter(state=Waking.State.FAILED, due_at__gte=since)


def find_dead_timers() -> QuerySet[Timer]:
    """Those that nobody looks for any more."""
    return Timer.objects.filter(state=Timer.State.DEAD_LETTER)


def list_alerts(may: Callable[[str], bool]) -> list[dict[str, Any]]:
    """For each kind of which there is any, and that one may see, a sentence and where to look."""
    closings, nights = find_failed_closings().count(), find_failed_consolidations().count()
    wakings, timers = find_failed_wakings().count(), find_dead_timers().count()
    told = [
        (
            closings,
            ngettext("%(n)d session could not be closed.", "%(n)d sessions could not be closed.", closings),
            "companions_closing",
            "failed",
        ),
        (
            nights,
            ngettext(
                "%(n)d night of the last week came to nothing.",
                "%(n)d nights of the last week came to nothing.",
                nights,
            ),
            "memory_consolidation",
            "failed",
        ),
        (
            wakings,
            ngettext(
                "%(n)d waking of the last week came to nothing.",
                "%(n)d wakings of the last week came to nothing.",
                wakings,
            ),
            "companions_waking",
            "failed",
        ),
        (
            timers,
            ngettext("%(n)d timer was set aside.", "%(n)d timers were set aside.", timers),
            "companions_timer",
            "set_aside",
        ),
    ]
    return [
        {
            "sentence": words % {"n": count},
            "link": f"{reverse(f'admin:{name}_changelist')}?state__exact={state}",
        }
        for count, words, name, state in told
        if count and may(name.replace("_", ".view_", 1))
    ]


def count_badges() -> dict[str, str]:
    """The number to stand beside a table's name, by its label; none for nothing."""
    counted = {
        "companions.Closing": find_failed_closings().count(),
        "memory.Consolidation": find_failed_consolidations().count(),
        "companions.Waking": find_failed_wakings().count(),
        "companions.Timer": find_dead_timers().count(),
    }
    return {label: str(count) for label, count in counted.items() if count}
