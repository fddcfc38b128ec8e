"""Limits on what a companion and its user may have, checked once a restore has inserted its rows."""

from uuid import UUID

from django.db.models import Count
from django.utils.translation import gettext as _

from accounts.models import User
from cards.lorebooks import MAX_ENTRIES
from companions.archives.errors import ArchiveError
from companions.life.timers import timers
from companions.lore import quota
from companions.lore.editing import BOOKS_EACH
from companions.models import Lorebook, Session, Waking
from memory.models import Consolidation, DiaryEntry

MOST_WORK = 2_000  # of one kind: the longest due is done first, so more would hold up others


def require_limits(user: User, companion_id: UUID) -> None:
    """Raise ArchiveError or LimitError if the restored companion has more of something than this Kith allows."""
    books = (
        Lorebook.objects.filter(companion=companion_id).annotate(held=Count("entries")).values_list("held")
    )
    nights = Consolidation.objects.filter(companion=companion_id)
    counts = {
        "timers": (timers.get_planned(companion_id).count(), timers.MAX_ACTIVE + len(timers.PREDEFINED)),
        "lorebooks": (Lorebook.objects.owned_by(user).count(), BOOKS_EACH),
        "wakings": (Waking.objects.waiting().filter(companion=companion_id).count(), MOST_WORK),
        "nights": (nights.filter(state=Consolidation.State.WAITING).count(), MOST_WORK),
        "sessions": (Session.everywhere.filter(companion=companion_id, ended_at=None).count(), MOST_WORK),
        "diary": (DiaryEntry.objects.filter(companion=companion_id, is_stale=True).count(), MOST_WORK),
        "lore_entries": (max((held for (held,) in books), default=0), MAX_ENTRIES),
    }
    for name, (count, most) in counts.items():
        if count > most:
            detail = _(
                "With this archive there would be %(count)s rows of %(section)s; there can be at most %(most)s."
            )
            values = {"count": f"{count:,}", "section": name, "most": f"{most:,}"}
            raise ArchiveError("too_many_rows", detail % values)
    quota.require_room(user)
