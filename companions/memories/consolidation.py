"""Nightly consolidation: find companions whose night has come, run `memory.consolidation`, and show its results."""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import connection
from django.db.models import Prefetch
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from accounts.models import User
from accounts.models.user import list_time_zones
from companions.models import Companion
from database.journal import everywhere
from memory.consolidation.undo import settle, undo
from memory.models import Change, Consolidation
from memory.models.consolidation import ConsolidationQuerySet

BEGINS = time(3)  # in the user's time zone
BATCH = 500
# One row a night for each companion that learnt something between the request of its last night and this night's begin.
NIGHTS = """
INSERT INTO memory_consolidation (id, companion_id, night_of, asked_at, state, draft, attempts, next_at, error)
SELECT gen_random_uuid(), companion.id, tonight.night_of, %(now)s, 'waiting', '{}', 0, %(now)s, ''
  FROM companions_companion companion
  JOIN accounts_user person ON person.id = companion.user_id AND person.is_active
  JOIN unnest(%(zones)s::text[], %(nights)s::date[], %(begins)s::timestamptz[]) AS tonight(zone, night_of, begins_at)
    ON tonight.zone = person.time_zone
 CROSS JOIN LATERAL (SELECT max(earlier.night_of) AS night_of, max(earlier.asked_at) AS asked_at,
                            bool_or(earlier.state = 'waiting') AS is_waiting
                       FROM memory_consolidation earlier WHERE earlier.companion_id = companion.id) last
 WHERE last.is_waiting IS NOT TRUE AND coalesce(last.night_of < tonight.night_of, true)
   AND EXISTS (SELECT FROM memory_memory learnt
                WHERE learnt.companion_id = companion.id AND learnt.learnt_at < tonight.begins_at
                  AND learnt.learnt_at >= coalesce(last.asked_at, '-infinity')
                  AND NOT (learnt.kind IN ('said', 'diary', 'gist', 'insight'))
                  AND learnt.closed_at IS NULL AND NOT learnt.is_private AND NOT learnt.is_asleep)
 LIMIT %(limit)s
    ON CONFLICT DO NOTHING
"""


def request_due_nights(now: datetime) -> int:
    """Create the due consolidations of nights that have begun (see NIGHTS); return how many, at most BATCH."""
    used = set(User.objects.values_list("time_zone", flat=True).distinct())
    nights = {name: find_night(now, ZoneInfo(name)) for name in used.intersection(list_time_zones())}
    named: dict[str, Any] = {
        "now": now,
        "limit": BATCH,
        "zones": list(nights),
        "nights": [night_of for night_of, _ in nights.values()],
        "begins": [begins_at for _, begins_at in nights.values()],
    }
    with connection.cursor() as cursor:
        cursor.execute(NIGHTS, named)
        count: int = cursor.rowcount
    return count


def find_night(now: datetime, zone: tzinfo) -> tuple[date, datetime]:
    """Return the date of the morning after the latest night that has begun in the zone, and when it began (UTC).

    If clocks skip the hour of its beginning, it begins after the jump; if that hour occurs twice, the first time.
    """
    night_of = (now.astimezone(zone).replace(tzinfo=None) - timedelta(hours=BEGINS.hour)).date()
    return night_of, datetime.combine(night_of, BEGINS, zone).astimezone(UTC)


def load_ended_nights(companion: Companion) -> ConsolidationQuerySet:
    """Return the companion's nights that are done or failed, with their changes and the memories of these."""
    changes = Change.objects.filter(companion=companion).order_by("number").select_related("memory")
    mine = Consolidation.objects.filter(companion=companion, ended_at__isnull=False)
    return mine.prefetch_related(Prefetch("changes", changes.prefetch_related("others")))


@dataclass(frozen=True, slots=True)
class NightLine:
    """What the last night did, in one line, and the id of the first contradiction to be settled."""

    text: str
    first_open: UUID | None


def describe_last_night(companion: Companion) -> NightLine | None:
    """Return a line on the last night that is over and on open contradictions, or None before the first night."""
    night = load_ended_nights(companion).order_by("-ended_at", "-pk").first()
    if night is None:
        return None
    waiting = load_contradictions(companion)
    first_open = waiting[0].pk if waiting else None
    if night.state == Consolidation.State.FAILED:
        return NightLine(_("Last night: it did not work"), first_open)
    changes = [change for change in night.changes.all() if not change.undone_at]
    counts = Counter(Change.Kind(change.kind) for change in changes)
    said = [
        ngettext("%(count)d merged", "%(count)d merged", counts[Change.Kind.MERGED]),
        ngettext("%(count)d new thought", "%(count)d new thoughts", counts[Change.Kind.INSIGHT]),
        ngettext("%(count)d contradiction to settle", "%(count)d contradictions to settle", len(waiting)),
    ]
    numbers = (counts[Change.Kind.MERGED], counts[Change.Kind.INSIGHT], len(waiting))
    parts = [words % {"count": count} for words, count in zip(said, numbers, strict=True) if count]
    done = pgettext("between the parts of a list", ", ").join(parts) or _("nothing to do")
    return NightLine(_("Last night: %(done)s") % {"done": done}, first_open)


def load_contradictions(companion: Companion) -> list[Change]:
    """Return the contradictions that can be settled, oldest first, among the oldest BATCH unsettled ones."""
    unsettled = Change.objects.filter(
        companion=companion,
        kind=Change.Kind.CONTRADICTION,
        settled="",
        undone_at=None,
        memory__closed_at=None,
    )
    found = unsettled.select_related("memory").prefetch_related("others").order_by("number")
    return [change for change in found[:BATCH] if change.is_open]


@everywhere()
def undo_change(companion: Companion, change_id: UUID, now: datetime) -> Change:
    """Undo the change and return it. Raise UndoError or Change.DoesNotExist."""
    companion.lock()
    return undo(companion.pk, change_id, now)


@everywhere()
def settle_change(companion: Companion, change_id: UUID, keep: Change.Settled, now: datetime) -> Change:
    """Settle the contradiction and return it. Raise UndoError or Change.DoesNotExist."""
    companion.lock()
    return settle(companion.pk, change_id, keep, now)
