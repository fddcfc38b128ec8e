"""Asking for the end of the open session; the work itself is done in the background."""

from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction

from companions.locking import lock
from companions.models import Closing, Companion, Job, Message, Session
from memory import nudging


@transaction.atomic
def close(companion: Companion, now: datetime, id: UUID | None = None, is_forgetful: bool = False) -> Job:
    """The job of closing the open session; done at once where nobody has said anything in it.

    Asked again while it waits, it is the same job, which now closes all that was said since, and tries again at once;
    asked once "without remembering", nothing is remembered.
    """
    lock(companion.pk)
    session = Session.objects.filter(companion=companion, ended_at=None).first()
    newest = _newest(session, is_forgetful) if session else None
    if session is None or newest is None:
        return _ended_at_once(companion, session, now, id)
    closing = Closing.objects.open().filter(session=session).select_related("job").first()
    closing = closing or Closing(companion=companion, session=session, asked_at=now)
    if closing.error or closing._state.adding:  # else somebody may be at it
        closing.next_at, closing.error = now, ""
    closing.until_at = newest
    closing.is_forgetful = closing.is_forgetful or is_forgetful
    closing.job = closing.job or Job.objects.create(
        id=id or uuid4(), companion=companion, kind=Job.Kind.CLOSE, total=1
    )
    closing.save()
    nudge(closing)
    return closing.job


def nudge(closing: Closing) -> None:
    """Ask for the work after the commit. An unreachable broker is only logged: beat finds the row within a minute."""
    from companions.sessions.tasks import close_session

    nudging.nudge(close_session, str(closing.pk))


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
