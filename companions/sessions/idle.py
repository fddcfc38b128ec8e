"""Sessions that have fallen silent: found from rows, closed as they were before the silence."""

from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from companions.locks import lock
from companions.models import Closing, Session
from companions.sessions.asking import nudge

log = structlog.get_logger(__name__)

BATCH = 200
# Of each open session the first silence that is long enough, after something that the user said; whoever wrote after it
# begins the next session. A closing that failed is not begun again by itself.
SILENT = """
WITH gaps AS (
  SELECT message.session_id, message.said_at, companion.idle_hours,
         lead(message.said_at) OVER said AS next_at,
         bool_or(message.role = 'user') OVER said AS has_user
    FROM companions_session session
    JOIN companions_companion companion ON companion.id = session.companion_id
    JOIN companions_message message ON message.session_id = session.id
   WHERE session.ended_at IS NULL AND session.started_at <= %(now)s - make_interval(hours => companion.idle_hours)
     AND EXISTS (SELECT FROM companions_message asked WHERE asked.session_id = session.id AND asked.role = 'user')
  WINDOW said AS (PARTITION BY message.session_id ORDER BY message.said_at, message.id)
)
SELECT session_id, min(said_at) FROM gaps
 WHERE has_user AND coalesce(next_at, %(now)s) - said_at >= make_interval(hours => idle_hours)
   AND NOT EXISTS (SELECT FROM companions_closing closing WHERE closing.session_id = gaps.session_id
                      AND (closing.state = 'waiting' OR closing.state = 'failed' AND closing.until_at >= gaps.said_at))
 GROUP BY session_id LIMIT %(most)s
"""


def ask_for_silent(now: datetime, most: int = BATCH) -> int:
    """Ask for the closing of sessions after which, or within which, nobody spoke for long; how many there were."""
    named: dict[str, Any] = {"now": now, "most": most}
    with connection.cursor() as cursor:
        cursor.execute(SILENT, named)
        silent = cursor.fetchall()
    return sum(_ask(session_id, until_at, now) for session_id, until_at in silent)


@transaction.atomic
def _ask(session_id: UUID, until_at: datetime, now: datetime) -> bool:
    """Whether it was asked for now, and by nobody else meanwhile."""
    session = Session.objects.filter(pk=session_id).first()
    if session is None or not lock(session.companion_id):
        return False
    if not Session.objects.filter(pk=session_id, ended_at=None).exists():
        return False
    closing, is_new = Closing.objects.open().get_or_create(
        session=session,
        state=Closing.State.WAITING,
        defaults={
            "companion_id": session.companion_id,
            "until_at": until_at,
            "asked_at": now,
            "next_at": now,
        },
    )
    if is_new:
        nudge(closing)
    return is_new
