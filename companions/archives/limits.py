"""Limits on what a companion and its user may have: rows of a restored archive, and storage in the database."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import Count, Func, IntegerField, QuerySet, Sum, Value
from django.utils.translation import gettext as _

from accounts.models import User
from cards.lorebooks import MAX_ENTRIES
from companions.archives.errors import ArchiveError
from companions.archives.sections import SECTIONS, Section
from companions.errors import LimitError
from companions.life.timers import timers
from companions.lore import quota
from companions.lore.editing import BOOKS_EACH
from companions.models import Companion, Lorebook, Session, Waking
from memory.models import Consolidation, DiaryEntry

MAX_WORK = 2_000  # of one kind: the longest due is done first, so more would hold up others
MESSAGE_BYTES = 1_000  # that a message and its memory take beside the text, which both hold


def require_limits(user: User, companion_id: UUID) -> None:
    """Raise ArchiveError or LimitError if a restored companion, whose rows are inserted, has more of something than this
    Kith allows.
    """
    books = Lorebook.objects.filter(companion=companion_id).annotate(held=Count("entries"))
    nights = Consolidation.objects.filter(companion=companion_id)
    counts = {
        "timers": (timers.get_planned(companion_id).count(), timers.MAX_ACTIVE + len(timers.PREDEFINED)),
        "lorebooks": (Lorebook.objects.owned_by(user).count(), BOOKS_EACH),
        "wakings": (Waking.objects.waiting().filter(companion=companion_id).count(), MAX_WORK),
        "nights": (nights.filter(state=Consolidation.State.WAITING).count(), MAX_WORK),
        "sessions": (Session.everywhere.filter(companion=companion_id, ended_at=None).count(), MAX_WORK),
        "diary": (DiaryEntry.objects.filter(companion=companion_id, is_stale=True).count(), MAX_WORK),
        "lore_entries": (max(books.values_list("held", flat=True), default=0), MAX_ENTRIES),
    }
    for name, (count, most) in counts.items():
        if count > most:
            detail = _(
                "With this archive there would be %(count)s rows of %(section)s; there can be at most %(most)s."
            )
            values = {"count": f"{count:,}", "section": name, "most": f"{most:,}"}
            raise ArchiveError("too_many_rows", detail % values)
    quota.require_room(user)


def estimate_bytes(texts: Iterable[str]) -> int:
    """Return about how many bytes messages with these texts will take."""
    return sum(MESSAGE_BYTES + 2 * len(text.encode(errors="replace")) for text in texts)


def measure_bytes(user: User) -> int:
    """Return how many bytes the rows of the user's companions take, as stored; without vectors and indexes."""
    mine = list(Companion.objects.owned_by(user).values_list("pk", flat=True))
    first, *others = (_measure_section(section, mine) for section in SECTIONS.values())
    return sum(first.union(*others, all=True))


def _measure_section(section: Section, companions: list[UUID]) -> QuerySet[Any, int]:
    """Return the query for the bytes of the companions' rows of a section."""
    table = section.model._meta.db_table
    size = Func(template=f'pg_column_size("{table}".*)', output_field=IntegerField())  # no ORM equivalent
    rows = section.model._base_manager.filter(**{f"{section.way}__in": companions}).order_by()
    sums: QuerySet[Any, int] = rows.values(whole=Value(1)).annotate(bytes=Sum(size, default=0))
    return sums.values_list("bytes", flat=True)


def require_storage(user: User, more: int = 0) -> None:
    """Raise LimitError if the user's companions, and `more` bytes, would take more than KITH_COMPANIONS_MB."""
    if measure_bytes(user) + more > settings.COMPANION_BYTES_EACH:
        detail = _(
            "All that your companions have been told and remember can take up at most %(most)s MB, and this would be"
            " more. Bring in less of it, or undo an earlier import or delete a companion first."
        )
        raise LimitError("no_storage", detail % {"most": f"{settings.COMPANION_BYTES_EACH // 1_000_000:,}"})
