"""What a reply does to what it was given to remember, and the mood in which it does so."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from companions.life.mood import Feeling, felt_now, swayed
from companions.models import Reply
from memory.models import Recalled
from memory.mood import CALM, HALF_DAYS
from memory.reinforcing import use
from memory.together import Asked, Rows, alone

LATELY = timedelta(days=1)  # of what is older the mood keeps a share of 1/256
COUNTING = (Reply.State.DONE, Reply.State.STOPPED, Reply.State.INTERRUPTED)
# In SQL, for a long session has thousands of them, and every turn waits for this; the mood is memory.mood's.
SESSION = """
SELECT coalesce(sum(weight * (joy - aversion)), 0) / (%(calm)s + coalesce(sum(weight) FILTER (WHERE joy IS NOT NULL), 0)),
       (SELECT ARRAY[valence, extract(epoch FROM %(now)s - made_at)] FROM companions_innerstate
         WHERE companion_id = (SELECT companion_id FROM companions_session WHERE id = %(session)s)
         ORDER BY number DESC LIMIT 1)
FROM companions_message message
JOIN companions_reply reply ON reply.message_id = message.id
JOIN memory_recall recall ON recall.reply_id = reply.id
JOIN memory_recalled found ON found.recall_id = recall.id
LEFT JOIN memory_memory memory ON memory.id = found.memory_id AND found.is_used AND recall.at > %(since)s
CROSS JOIN LATERAL (
    SELECT CASE WHEN recall.at > %(since)s  -- of what is much older no floating-point number is left, but an error
                THEN power(2, -greatest(extract(epoch FROM %(now)s - recall.at), 0)::float8 / %(half_seconds)s)
                ELSE 0 END AS weight
) fading
WHERE message.session_id = %(session)s AND message.id IS DISTINCT FROM %(but)s
"""


def mood_of_session(session_id: UUID, now: datetime, but: UUID | None = None) -> Asked[float]:
    """The mood (-1 to 1) that what came to mind in this session, but for that message, makes on top of the valence of the
    inner state; to be asked.
    """

    def made(rows: Rows) -> float:
        [(mood, felt)] = rows
        valence, seconds = felt or (0.0, 0.0)
        left = felt_now(Feeling(valence), now - timedelta(seconds=seconds), now)
        return swayed(mood, left.valence)

    named: dict[str, Any] = {"session": session_id, "but": but, "now": now, "since": now - LATELY}
    named |= {"calm": CALM, "half_seconds": timedelta(days=HALF_DAYS).total_seconds()}
    return Asked(SESSION, named, made)


def use_shown(reply: Reply, now: datetime) -> None:
    """Strengthen what the ended reply was shown, if it said anything, each memory once in a session.

    Three queries, one more where it goes on.
    """
    before = reply.continues.text if reply.continues else ""
    if reply.state not in COUNTING or reply.text.strip() == before.strip():
        return
    goes_on_from = _goes_on_from(reply) if reply.continues_id else []
    mood = alone(mood_of_session(reply.message.session_id, now))
    use(reply.pk, mood, now, goes_on_from, _used_before(reply))


def _used_before(reply: Reply) -> list[UUID]:
    """Return those of the memories that it was shown which answers to other messages of its session have used."""
    mine = Recalled.objects.of(reply.companion_id)
    shown = mine.filter(recall__reply=reply).values("memory")
    others = mine.filter(
        is_used=True, memory__in=shown, recall__reply__message__session=reply.message.session_id
    )
    return list(others.exclude(recall__reply__message=reply.message_id).values_list("memory", flat=True))


def _goes_on_from(reply: Reply) -> list[UUID]:
    """The reply that it takes up, the one that this takes up, and so on; another branch's are not among them."""
    replies = Reply.objects.filter(message=reply.message_id)
    took_up = dict(replies.values_list("pk", "continues"))
    found, earlier = [], reply.continues_id
    while earlier:
        found.append(earlier)
        earlier = took_up.get(earlier)
    return found
