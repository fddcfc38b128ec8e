"""What follows a reply that has ended: its person's other pages count anew, and hear of what they must be told."""

from datetime import datetime

from django.utils import translation

from companions.life.telling import tell_person, unread_changed
from companions.models import Companion, Reply
from safety import together

TOLD = (Reply.State.DONE, Reply.State.STOPPED)


def tell(ended: Reply, companion: Companion, now: datetime) -> None:
    """Count the time together, whatever companion or channel it was; three queries. Others are told after the commit."""
    said_at = ended.message.said_at
    notices = together.note(companion.user, said_at, now if ended.state in TOLD else said_at)
    with translation.override(companion.user.language or "en"):
        for one in notices:
            tell_person(companion.user_id, together.frame(one))
    unread_changed(companion.user_id)
