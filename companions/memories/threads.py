"""The threads between a companion and its person, as the person lists, closes and reopens them."""

from datetime import datetime

from django.db.models import F, QuerySet

from companions.models import Companion
from companions.models.companion import lock
from database.journal import everywhere
from memory.models import Thread
from memory.threads import close_thread, reopen_thread


def load_threads(companion: Companion) -> QuerySet[Thread]:
    """Return the companion's threads whose memory is open, with the memory, the next one due first."""
    mine = Thread.objects.filter(companion=companion, memory__closed_at=None).select_related("memory")
    return mine.defer("memory__entry").order_by(F("due_on").asc(nulls_last=True), "-opened_at", "pk")


@everywhere()
def set_state(thread: Thread, state: Thread.State, now: datetime) -> None:
    """Settle, drop or reopen the thread."""
    lock(thread.companion_id)
    if state == Thread.State.OPEN:
        reopen_thread(thread, now, thread.companion.user.zone)
    else:
        close_thread(thread, state, now)
    thread.refresh_from_db()
