"""What has failed for good and waits for an operator: sessions that were not closed, and nights that came to nothing."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from companions.models import Closing
from memory.models import Consolidation

NIGHTS_SHOWN = timedelta(days=7)


def failed_closings() -> QuerySet[Closing]:
    """Those of sessions that are open still and that nobody tries again."""
    open_still = Closing.objects.filter(state=Closing.State.FAILED, session__ended_at=None)
    return open_still.exclude(session__closings__state=Closing.State.WAITING)


def failed_nights() -> QuerySet[Consolidation]:
    """Those of the last week: a later night looks at what an earlier one did not."""
    since = timezone.now() - NIGHTS_SHOWN
    return Consolidation.objects.filter(state=Consolidation.State.FAILED, asked_at__gte=since)


def alarms() -> list[dict[str, Any]]:
    """For each kind of which there is any, a sentence and where to look."""
    closings, nights = failed_closings().count(), failed_nights().count()
    told = [
        (
            closings,
            ngettext("%(n)d session could not be closed.", "%(n)d sessions could not be closed.", closings),
            "companions_closing",
        ),
        (
            nights,
            ngettext(
                "%(n)d night of the last week came to nothing.",
                "%(n)d nights of the last week came to nothing.",
                nights,
            ),
            "memory_consolidation",
        ),
    ]
    return [
        {
            "sentence": words % {"n": count},
            "link": f"{reverse(f'admin:{name}_changelist')}?state__exact=failed",
        }
        for count, words, name in told
        if count
    ]


def badges() -> dict[str, str]:
    """The number to stand beside a table's name, by its label; none for nothing."""
    counted = {
        "companions.Closing": failed_closings().count(),
        "memory.Consolidation": failed_nights().count(),
    }
    return {label: str(count) for label, count in counted.items() if count}
