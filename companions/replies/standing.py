"""How things stand as a message comes in: one query tells what decides whether it is let in and when it is answered."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings

from companions.models import Companion
from memory.together import Asked

# In SQL, for whoever sends waits for it: four tables in one trip. No older reply waits, or is under way, than the newest.
STANDING = """
WITH newest AS (
    SELECT state, created_at FROM companions_reply
     WHERE companion_id = %(companion)s ORDER BY created_at DESC LIMIT %(most)s)
SELECT (SELECT count(*) FROM companions_reply reply JOIN companions_companion mine ON mine.id = reply.companion_id
         WHERE mine.user_id = %(user)s AND reply.created_at > %(minute_ago)s),
       (SELECT count(*) FROM newest WHERE state = 'queued'),
       (SELECT count(*) FROM newest WHERE state IN ('thinking', 'streaming')),
       (SELECT max(created_at) FROM newest),
       (SELECT id FROM companions_session WHERE companion_id = %(companion)s AND ended_at IS NULL),
       (SELECT id FROM companions_message WHERE companion_id = %(companion)s AND client_id = %(client_id)s)
"""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a companion has to answer yet, and its user asked of all companions within the last minute, retries too.

    `sent_before` is the message that came under the same client's id.
    """

    recent_messages: int
    waiting: int
    under_way: int
    newest_at: datetime | None
    session_id: UUID | None
    sent_before: UUID | None

    @property
    def is_free(self) -> bool:
        """Whether a new reply may have its turn at once."""
        return not self.waiting and not self.under_way


def standing(companion: Companion, now: datetime, client_id: str | None = None) -> Asked[Standing]:
    """How things stand, to be asked with the companion locked, so that they stay so."""
    named: dict[str, Any] = {"companion": companion.pk, "user": companion.user_id, "client_id": client_id}
    named |= {"minute_ago": now - timedelta(minutes=1), "most": settings.REPLIES_WAITING}
    return Asked(STANDING, named, lambda rows: Standing(*rows[0]))
