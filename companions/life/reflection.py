"""Reflecting: after ten messages a companion's inner state is written anew, apart from the talk. It says nothing.

So it is where deletion has taken the words of the inner state.
"""

from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, transaction

from accounts.sparing import waits_until
from companions.life.inner_state import newest, revise
from companions.life.reflecting import Material, Reflected, reflect
from companions.locking import lock
from companions.models import InnerState, Life, Reply, Session
from companions.sessions.stretch import said, told
from companions.sessions.trying import MOST_ATTEMPTS, SOON, Clock, Lease, Step, again_at, counted, nothing
from memory import nudging

log = structlog.get_logger(__name__)

MESSAGES = 10  # of both sides
BATCH = 200
MOST_TRIES = 3  # in one run: whoever deletes meanwhile need not be outrun
# Companions in whose open session enough was said, and may be shown, since they last reflected, and which nobody closes:
# the closing writes the inner state anew as well. Whose inner state lost its words reflects upon the newest session, be
# it over, and upon however little was said in it.
DUE = """
WITH looked_at AS (
  SELECT session.id, session.companion_id, newest.until_at, coalesce(newest.by = 'deletion', false) AS lost_its_words
    FROM companions_session session
    LEFT JOIN LATERAL (SELECT until_at, state.by FROM companions_innerstate state
                        WHERE state.companion_id = session.companion_id ORDER BY number DESC LIMIT 1) newest ON true
   WHERE session.ended_at IS NULL AND (%(only)s::uuid IS NULL OR session.companion_id = %(only)s::uuid)
  UNION
  SELECT session.id, state.companion_id, state.until_at, true
    FROM companions_innerstate state
    JOIN LATERAL (SELECT id, ended_at FROM companions_session
                   WHERE companion_id = state.companion_id AND waking_id IS NULL
                   ORDER BY ended_at IS NULL DESC, started_at DESC LIMIT 1) session ON session.ended_at IS NOT NULL
   WHERE state.by = 'deletion' AND (%(only)s::uuid IS NULL OR state.companion_id = %(only)s::uuid)
     AND NOT EXISTS (SELECT FROM companions_innerstate later
                      WHERE later.companion_id = state.companion_id AND later.number > state.number)
)
SELECT session.companion_id
  FROM looked_at session JOIN companions_life life ON life.companion_id = session.companion_id
 WHERE coalesce(life.reflect_at, %(now)s) <= %(now)s
   AND (SELECT count(*) FROM (
          SELECT FROM companions_message message
           WHERE message.session_id = session.id AND NOT message.is_hidden AND message.role <> 'system'
             AND message.said_at > coalesce(session.until_at, '-infinity')
             AND NOT EXISTS (SELECT FROM memory_memory mirror
                              WHERE mirror.message_id = message.id AND mirror.closed_at IS NOT NULL)
           LIMIT %(messages)s) AS enough) >= CASE WHEN session.lost_its_words THEN 1 ELSE %(messages)s END
   AND NOT EXISTS (SELECT FROM companions_closing closing
                    WHERE closing.session_id = session.id AND closing.state = 'waiting')
 LIMIT %(most)s
"""


def due(now: datetime, most: int = BATCH, only: UUID | None = None) -> list[UUID]:
    """The companions that are to reflect now."""
    named: dict[str, Any] = {"now": now, "most": most, "messages": MESSAGES, "only": only}
    with connection.cursor() as cursor:
        cursor.execute(DUE, named)
        return [id for (id,) in cursor.fetchall()]


def nudge(reply: Reply, now: datetime) -> None:
    """Ask for the reflection after the commit, if the ended reply has said the tenth message: one query."""
    if reply.answer_id and due(now, only=reply.companion_id):
        from companions.life.tasks import reflect_upon

        nudging.nudge(reflect_upon, str(reply.companion_id))


def run(companion_id: UUID, now: datetime, step: Step = nothing, clock: Clock | None = None) -> None:
    """Reflect, if it is due. What goes wrong is counted, and it is tried again later; the inner state stays until then.

    `now` is the time of what is written; the lease and waits count from what the clock says then, else from `now`.
    """
    if companion_id not in due(now, only=companion_id):
        return
    lease = Lease.take(Life.objects.filter(companion=companion_id), "reflect_at", clock or (lambda: now))
    if lease is None:
        return
    step("claimed")
    with counted(partial(_note_failure, companion_id, lease)):
        lease.give_back(_go_on(companion_id, lease, now, step))


def _go_on(companion_id: UUID, lease: Lease, now: datetime, step: Step) -> datetime | None:
    """When to go on: there are no tokens today, or people changed what was said again and again; None when done."""
    for _try in range(MOST_TRIES):
        material = gather(companion_id)
        if material is None or not lease.renew():
            return None
        if tomorrow := waits_until(material.companion.user, lease.clock()):
            return tomorrow
        step("gathered")
        reflected = reflect(material, now)
        step("asked")
        if _keep(material, reflected, now, step):
            lease.mine.update(reflect_attempts=0)
            return None
    return lease.clock() + SOON


def gather(companion_id: UUID) -> Material | None:
    """What there is to reflect upon; None where it is not enough."""
    before = newest(companion_id)
    has_lost_words = before is not None and before.by == InnerState.By.DELETION
    sessions = Session.objects.filter(companion=companion_id, waking=None).select_related("companion__user")
    session = sessions.filter(ended_at=None).first()
    if session is None and has_lost_words:
        session = sessions.order_by("-started_at").first()
    if session is None:
        return None
    since = told(said(session))
    messages = list(since.filter(said_at__gt=before.until_at) if before and before.until_at else since)
    is_enough = len(messages) >= (1 if has_lost_words else MESSAGES)
    return Material(session.companion, session, before, messages) if is_enough else None


@transaction.atomic
def _keep(material: Material, reflected: Reflected, now: datetime, step: Step) -> bool:
    """Whether it is kept: what was shown is there as it was, and nothing else has changed the inner state meanwhile."""
    lock(material.companion.pk)
    if not _is_as_it_was(material, reflected):
        return False
    step("writing")
    revise(
        material.companion.pk,
        reflected.text,
        reflected.feeling,
        by=InnerState.By.REFLECTION,
        now=now,
        seen=[one.pk for one in reflected.shown],
        until_at=material.messages[-1].said_at,
        call_id=reflected.call_id,
    )
    step("written")
    return True


def _is_as_it_was(material: Material, reflected: Reflected) -> bool:
    session = Session.objects.filter(pk=material.session.pk, ended_at=material.session.ended_at).first()
    if session is None or newest(material.companion.pk) != material.before:
        return False
    ids = [one.pk for one in reflected.shown]
    there = told(said(session).filter(pk__in=ids)).values_list("pk", "text")
    return list(there) == [(one.pk, one.text) for one in reflected.shown]


def _note_failure(companion_id: UUID, lease: Lease, code: str) -> None:
    """Count the try; the operator is told once, and it is tried on, at most every six hours."""
    attempts = 1 + (lease.mine.values_list("reflect_attempts", flat=True).first() or 0)
    lease.give_back(again_at(attempts, lease.clock()), reflect_attempts=attempts)
    if attempts == MOST_ATTEMPTS:
        log.error("not_reflected", companion_id=str(companion_id), code=code)
