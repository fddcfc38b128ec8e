"""What a companion wrote unprompted because of what goes: it tells that again, so it goes too."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

from django.db.models import Q

from companions.deletion.derived import gone_of
from companions.deletion.lived import timers_for, timers_set_in
from companions.models import Companion, Message, Waking
from memory.models import Memory
from memory.unlearning import Gone


def reminders(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message] = (),
    sources: Collection[Message] = (),
    memories: Collection[Memory] = (),
) -> list[Message]:
    """Reminders asked for in these messages, words about these memories, and what was said because of those in turn.

    Of what goes back to the `sources`, or to what was learnt from the messages, only what shares a word with what goes.
    """
    found: dict[UUID, Message] = {}
    while True:
        every = [*messages, *found.values()]
        mirrors = Memory.objects.of(companion.pk).filter(message__in=found.keys()).defer("entry")
        gone = gone_of(companion, now, every, sources, [*memories, *mirrors])
        new = [one for one in _said_for(gone) if one.pk not in found]
        if not new:
            return list(found.values())
        found |= {one.pk: one for one in new}


def reminders_of(message: Message, now: datetime) -> list[Message]:
    """What goes with the message if that is deleted."""
    mirrors = Memory.objects.of(message.companion_id).filter(message=message).defer("entry")
    return reminders(message.companion, now, messages=[message], memories=list(mirrors))


def _said_for(gone: Gone) -> list[Message]:
    """What was said in wakings that came of it directly."""
    mine = Waking.objects.filter(companion=gone.companion_id)
    timers = timers_for(gone)
    known = set[UUID]()
    while True:
        woken = mine.filter(Q(timer__in=timers) | Q(about__in=gone.memories))
        ids = set(woken.values_list("pk", flat=True))
        if ids == known:
            break
        known, timers = ids, timers | timers_set_in(gone, ids)
    said = Message.objects.filter(companion=gone.companion_id, waking__isnull=False)
    said = said.exclude(pk__in=gone.all_messages)
    learnt = Q(waking__about__sources__in=gone.all_messages) | Q(waking__about__message__in=gone.messages)
    direct = list(said.filter(waking__in=known))
    near = said.filter(learnt).exclude(waking__in=known).distinct()
    return direct + [one for one in near if gone.tells(one.text)]
