"""Requests to close a session, by its person, after silence, or by an operator; the work is done in the background."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import connection, transaction

from companions.models import Closing, Companion, Job, Message, Session
from companions.models.companion import lock
from jobs.background import enqueue
from jobs.lease import RETRY_DELAY

FAILURE_STANDS = timedelta(minutes=10)  # until a closing that failed for good may begin anew
BATCH = 200
# Finds in each open session the first silence that is long enough, after a message of the user's; what was written
# after it belongs to the next session. Reminders and other unprompted messages do not break a silence, or a talk would
# last as long as they come. A closing that failed is not begun again automatically.
SILENT = """
WITH gaps AS (
  SELECT message.session_id, message.said_at, companion.idle_hours,
         lead(message.said_at) OVER said AS next_at,
         bool_or(message.role = 'user') OVER said AS has_user
    FROM companions_session session
    JOIN companions_companion companion ON companion.id = session.companion_id
    JOIN companions_message message ON message.session_id = session.id AND NOT message.is_asleep
                                  AND message.waking_id IS NULL
   WHERE NOT session.is_asleep AND session.ended_at IS NULL
     AND session.started_at <= %(now)s - make_interval(hours => companion.idle_hours)
     AND EXISTS (SELECT FROM companions_message asked WHERE asked.session_id = session.id
                   AND asked.role = 'user' AND NOT asked.is_asleep)
  WINDOW said AS (PARTITION BY message.session_id ORDER BY message.said_at, message.id)
)
SELECT session_id, min(said_at) FROM gaps
 WHERE has_user AND coalesce(next_at, %(now)s) - said_at >= make_interval(hours => idle_hours)
   AND NOT EXISTS (SELECT FROM companions_closing closing WHERE closing.session_id = gaps.session_id
                      AND (closing.state = 'waiting' OR closing.state = 'failed' AND closing.until_at >= gaps.said_at))
 GROUP BY session_id LIMIT %(most)s
"""


@transaction.atomic
def close(companion: Companion, now: datetime, id: UUID | None = None, is_forgetful: bool = False) -> Job:
    """Request the closing of the open session and return its job. If the user said nothing in it, end it at once.

    A repeated request returns the waiting job, which then closes all that was said since; after a failed attempt, it is
    retried within a minute. A closing that failed for good begins anew, but for ten minutes its failed job is returned,
    unless the new request `is_forgetful`.
    Once a request `is_forgetful`, the session's messages are deleted instead of remembered, without delay or model.
    """
    companion.lock()
    session = Session.objects.filter(companion=companion, ended_at=None).first()
    newest = _find_newest(session, is_forgetful) if session else None
    if session is None or newest is None:
        Session.objects.filter(companion=companion, ended_at=None).update(ended_at=now)
        return Job.objects.create(
            id=id or uuid4(), companion=companion, kind=Job.Kind.CLOSE, total=1 if session else 0
        )
    closings = Closing.objects.filter(session=session).select_related("job")
    # Lock the closing, so that a worker that claims it waits until the request is saved.
    closing = closings.open().select_for_update(of=("self",)).first()
    if closing is None and not is_forgetful:
        failed = closings.filter(state=Closing.State.FAILED, ended_at__gt=now - FAILURE_STANDS)
        closing = failed.order_by("-ended_at").first()
    if closing is None:
        closing = Closing(companion=companion, session=session, asked_at=now, next_at=now)
    has_failed = closing.state == Closing.State.FAILED
    closing.job = closing.job or Job.objects.create(
        id=id or uuid4(),
        companion=companion,
        kind=Job.Kind.CLOSE,
        total=1,
        error=closing.error if has_failed else "",
    )
    if has_failed:
        closing.save(update_fields=["job"])
        return closing.job
    closing.until_at = newest
    closing.is_forgetful = closing.is_forgetful or is_forgetful
    if closing.error:  # otherwise a worker may have leased it
        closing.next_at = min(closing.next_at, now if is_forgetful else now + RETRY_DELAY)
    is_new = closing._state.adding
    closing.save(update_fields=None if is_new else ["until_at", "is_forgetful", "job", "next_at"])
    _enqueue(closing)
    return closing.job


def _find_newest(session: Session, is_forgetful: bool) -> datetime | None:
    """Return the time of the session's last message; None if it has none, or none of the user's to be remembered.

    If the request `is_forgetful`, a message of the companion's is enough.
    """
    messages = Message.objects.filter(session=session)
    if not is_forgetful and not messages.filter(role=Message.Role.USER).exists():
        return None
    return messages.order_by("-said_at", "-id").values_list("said_at", flat=True).first()


def _enqueue(closing: Closing) -> None:
    enqueue("companions.sessions.tasks.close_session", str(closing.pk))


def close_silent(now: datetime) -> int:
    """Request the closing of open sessions at their first silence of `idle_hours`; return how many were requested.

    What was said after that silence belongs to the next session. Requests at most BATCH closings.
    """
    with connection.cursor() as cursor:
        cursor.execute(SILENT, {"now": now, "most": BATCH})
        silent = cursor.fetchall()
    return sum(_close_silent(session_id, until_at, now) for session_id, until_at in silent)


@transaction.atomic
def _close_silent(session_id: UUID, until_at: datetime, now: datetime) -> bool:
    """Request the session's closing; return False if it has ended or another request was made meanwhile."""
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
        _enqueue(closing)
    return is_new


@transaction.atomic
def try_again(closing_id: UUID, now: datetime) -> bool:
    """Retry a closing that failed for good; return False if it has not failed, or if its session has ended
    or has another open closing.
    """
    failed = Closing.objects.filter(pk=closing_id, state=Closing.State.FAILED)
    closing = failed.first()
    if closing is None or not lock(closing.companion_id):
        return False
    others = Closing.objects.open().filter(session=closing.session_id)
    retryable = failed.filter(session__ended_at=None)
    if others.exists() or not retryable.update(
        state=Closing.State.WAITING, error="", attempts=0, next_at=now, ended_at=None
    ):
        return False
    Job.objects.filter(closing=closing).update(error="")
    _enqueue(closing)
    return True
