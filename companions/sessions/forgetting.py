"""The end of a session without remembering: what was said in it is gone for good."""

from datetime import datetime

from companions.deletion import delete_message
from companions.models import Closing
from companions.sessions.following import end_session
from companions.sessions.stretch import said


def forget(closing: Closing, now: datetime) -> None:
    """Delete what the closing closes, with all that was drawn from it, and end the session. Call it in a transaction."""
    messages = said(closing.session, closing.until_at).select_related("companion")
    for message in messages.reverse():  # so that each leaves its place to one that is still there
        delete_message(message, now)
    closing.session.summary = closing.session.title = ""
    end_session(closing, now)
