"""The end of a session as rows, and the beginning of the one that follows."""

from datetime import datetime
from uuid import UUID

from companions.models import Closing, Message, Session
from companions.sessions.stretch import said


def end_session(closing: Closing, now: datetime) -> None:
    """The session ends, the closing is done; what was said since is the next session's. Call it in a transaction."""
    session = closing.session
    later = Message.objects.filter(session=session).exclude(
        pk__in=said(session, closing.until_at).values("pk")
    )
    ids = list(later.order_by("said_at", "id").values_list("pk", flat=True))
    session.ended_at, session.scratch = closing.until_at, ""
    session.unsent, session.pressure, session.digest_at = 0, 0.0, None
    session.save()
    if ids:
        _begin_next(session, ids)
    closing.state, closing.ended_at, closing.error = Closing.State.DONE, now, ""
    closing.drafts, closing.seen = {}, []
    closing.save()


def _begin_next(session: Session, ids: list[UUID]) -> None:
    messages = Message.objects.filter(pk__in=ids)
    first = messages.earliest("said_at", "id")
    following = Session.objects.create(
        companion_id=session.companion_id, conversation_id=session.conversation_id, started_at=first.said_at
    )
    messages.update(session=following)
