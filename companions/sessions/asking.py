"""Asking for the end of the open session; the work itself is done in the background."""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import transaction

from companions.locks import lock
from companions.models import Closing, Companion, Job, Message, Session
from jobs.enqueue import enqueue
from jobs.retry import RETRY_DELAY

PAUSE = timedelta(minutes=10)
ASKED = ["until_at", "is_forgetful", "job", "next_at"]


@transaction.atomic
def close(companion: Companion, now: datetime, id: UUID | None = None, is_forgetful: bool = False) -> Job:
    """The job of closing the open session; done at once where nobody has said anything in it.

    Asked again while it waits, it is the same job, which now closes all that was said since; where it has failed it is
    tried again in a minute, not sooner. Where it has failed for good it begins anew, but for ten minutes it is the failed
    job still. Asked once "without remembering", for which no model is needed, nothing is remembered, and nothing waits.
    """
    lock(companion.pk)
    session = Session.objects.filter(companion=companion, ended_at=None).first()
    newest = _newest(session, is_forgetful) if session else None
    if session is None or newest is None:
        return _ended_at_once(companion, session, now, id)
    closing = _waiting(session) or (None if is_forgetful else _failed_lately(session, now))
    closing = closing or Closing(companion=companion, session=session, asked_at=now, next_at=now)
    closing.job = closing.job or Job.objects.create(
        id=id or uuid4(), companion=companion, kind=Job.Kind.CLOSE, total=1, error=_failed_with(closing)
    )
    if closing.state == Closing.State.FAILED:
        closing.save(update_fields=["job"])
        return closing.job
    closing.until_at = newest
    closing.is_forgetful = closing.is_forgetful or is_forgetful
    if closing.error:  # else somebody may be at it
        closing.next_at = min(closing.next_at, now if is_forgetful else now + RETRY_DELAY)
    closing.save(update_fields=None if closing._state.adding else ASKED)
    nudge(closing)
    return closing.job


def _waiting(session: Session) -> Closing | None:
    """Its closing that waits, locked: a worker that claims it waits until what is asked for is written."""
    waiting = Closing.objects.open().filter(session=session).select_for_update(of=("self",))
    return waiting.select_related("job").first()


def _failed_lately(session: Session, now: datetime) -> Closing | None:
    failed = Closing.objects.filter(session=session, state=Closing.State.FAILED, ended_at__gt=now - PAUSE)
    return failed.select_related("job").order_by("-ended_at").first()


def _failed_with(closing: Closing) -> str:
    return closing.error if closing.state == Closing.State.FAILED else ""


def nudge(closing: Closing) -> None:
    """Ask for the work after the commit. An unreachable broker is only logged: beat finds the row within a minute."""
    enqueue("companions.sessions.tasks.close_session", str(closing.pk))


def _newest(session: Session, is_forgetful: bool) -> datetime | None:
    """When something was last said in it; None where nobody but the companion, with its greeting, has said a word."""
    messages = Message.objects.filter(session=session)
    if not is_forgetful and not messages.filter(role=Message.Role.USER).exists():
        return None
    return messages.order_by("-said_at", "-id").values_list("said_at", flat=True).first()


def _ended_at_once(companion: Companion, session: Session | None, now: datetime, id: UUID | None) -> Job:
    if session:
        Session.objects.filter(pk=session.pk).update(ended_at=now)
    return Job.objects.create(
        id=id or uuid4(), companion=companion, kind=Job.Kind.CLOSE, total=1 if session else 0
    )
