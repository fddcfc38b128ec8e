"""What a reply does to what it was given to remember, and the mood in which it does so."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db.models import QuerySet

from companions.models import Reply
from memory.models import Recalled
from memory.mood import Felt, mood
from memory.reinforcing import use

LATELY = timedelta(days=1)  # of what is older the mood keeps a share of 1/256
COUNTING = (Reply.State.DONE, Reply.State.STOPPED, Reply.State.INTERRUPTED)


def recalled_in(session_id: UUID) -> QuerySet[Recalled]:
    """All that came to mind while replies were made in this session."""
    return Recalled.objects.filter(recall__reply__message__session=session_id)


def mood_in(session_id: UUID, now: datetime) -> float:
    """The companion's mood: what was used of its memories in this session makes it. One query.

    It takes the place of an inner state, which companions do not have yet.
    """
    lately = recalled_in(session_id).filter(is_used=True, recall__at__gt=now - LATELY)
    return mood(
        (Felt(*one) for one in lately.values_list("recall__at", "memory__joy", "memory__aversion")), now
    )


def use_shown(reply: Reply, now: datetime) -> None:
    """Strengthen what the ended reply was shown, if it said anything: two queries, one more where it goes on."""
    before = reply.continues.text if reply.continues else ""
    if reply.state not in COUNTING or reply.text.strip() == before.strip():
        return
    earlier = (
        Reply.objects.filter(message=reply.message_id).exclude(pk=reply.pk) if reply.continues_id else None
    )
    goes_on_from = [] if earlier is None else list(earlier.values_list("pk", flat=True))
    use(reply.pk, mood_in(reply.message.session_id, now), now, goes_on_from)
