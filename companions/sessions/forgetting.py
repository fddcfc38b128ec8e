"""The end of a session without remembering: what was said in it is gone for good."""

from datetime import datetime

from companions.deletion import delete_messages
from companions.models import Closing
from companions.sessions.following import end_session
from companions.sessions.stretch import said


def forget(closing: Closing, now: datetime) -> None:
    """Delete what the closing closes, with all that was drawn from it, and end the session. Call it in a transaction."""
    ids = list(said(closing.session, closing.until_at).values_list("pk", flat=True))
    delete_messages(closing.companion_id, ids, now)
    closing.session.summary = closing.session.title = ""
    end_session(closing, now)
