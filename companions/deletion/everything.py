"""Deleting a companion, and all that the rehearsal model wrote."""

from datetime import datetime

from django.db import transaction

from companions.deletion.derived import withdraw_all
from companions.deletion.lived import Lived
from companions.deletion.messages import delete_messages
from companions.deletion.scrubbing import delete_memories, scrub
from companions.deletion.withdrawing import drop_pages
from companions.locking import hold, lock
from companions.models import Companion, InnerState, Waking
from database.timeouts import lift_statement_timeout


@transaction.atomic
def delete_companion(companion: Companion) -> None:
    """The companion is gone with everything of it; how much was used stays counted."""
    lift_statement_timeout()
    lock(companion.pk)
    # Whoever embeds holds memories first and then needs the companion; asked for in that order, neither waits forever.
    list(companion.memories.select_for_update().order_by("pk").values_list("pk"))
    companion.delete()


@transaction.atomic
def delete_rehearsed(companion: Companion, now: datetime) -> int:
    """Delete all that the rehearsal model wrote; how many messages that were.

    Wakings stay in the log without its words.
    """
    lift_statement_timeout()
    rehearsed = companion.messages.filter(is_rehearsed=True).values_list("pk", flat=True)
    held = hold(companion.pk)
    count = delete_messages(companion.pk, list(rehearsed), now)
    if held:
        _forget_lived(held, now)
    return count


def _forget_lived(companion: Companion, now: datetime) -> None:
    gone = withdraw_all(companion, _lived(companion), now)
    scrub(companion.pk, {*gone.deleted, *gone.changed, *gone.lived}, now)
    delete_memories(companion.pk, gone.deleted)
    drop_pages(companion)


def _lived(companion: Companion) -> Lived:
    """The wakings in which it wrote, and the inner states that it did."""
    wakings = Waking.objects.filter(companion=companion, is_rehearsed=True).values_list("pk", flat=True)
    states = InnerState.objects.filter(companion=companion, is_rehearsed=True).values_list("pk", flat=True)
    return Lived(wakings=frozenset(wakings), states=frozenset(states))
