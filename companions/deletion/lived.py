"""What a companion's life has made from what goes: timers, wakings, inner states, pages that it wrote by itself."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from uuid import UUID

from django.db.models import Q

from companions.models import InnerState, Timer, Waking
from memory.models import DiaryEntry
from memory.unlearning import Gone, only_told

NONE: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Lived:
    """By ids: timers, inner states, memories that mirror pages; wakings that were shown it, or `woken` for it.

    From those that only `wrote` a page of it nothing else follows.
    """

    timers: frozenset[UUID] = NONE
    wakings: frozenset[UUID] = NONE
    woken: frozenset[UUID] = NONE
    wrote: frozenset[UUID] = NONE
    states: frozenset[UUID] = NONE
    pages: frozenset[UUID] = NONE

    @property
    def ids(self) -> frozenset[UUID]:
        """What prompts may have been shown of it."""
        return self.timers | self.states | self.pages


def trace(gone: Gone, more: Collection[UUID] = (), begun: Lived | None = None) -> Lived:
    """All of it, however often something was made from that again.

    `more` are memories that go, or say less, beside those of `gone`; `begun` is what is known to go already.
    """
    lived, asked = begun or Lived(), NONE if begun else timers_for(gone)
    ids = gone.all_messages | gone.memories | frozenset(more)
    while (wider := _wider(gone, lived, asked, ids)) != lived:
        lived = wider
    return replace(lived, wrote=lived.wrote | _wrote(gone, ids))


def _wider(gone: Gone, lived: Lived, asked: frozenset[UUID], ids: frozenset[UUID]) -> Lived:
    mine = Waking.objects.filter(companion=gone.companion_id)
    timers = lived.timers | asked | timers_set_in(gone, lived.wakings)
    woken = frozenset(mine.filter(Q(timer__in=timers) | Q(about__in=ids)).values_list("pk", flat=True))
    shown = mine.filter(shown__overlap=list(ids | lived.ids))
    wakings = lived.wakings | lived.woken | woken | frozenset(shown.values_list("pk", flat=True))
    return Lived(
        timers=timers,
        wakings=wakings,
        woken=lived.woken | woken,
        wrote=lived.wrote,
        states=_states(gone, wakings, lived.states),
        pages=_pages(gone, wakings),
    )


def _wrote(gone: Gone, ids: Collection[UUID]) -> frozenset[UUID]:
    """The wakings in which pages were written that go; what else was done in them stays."""
    pages = DiaryEntry.objects.filter(companion=gone.companion_id, memory__in=ids)
    return frozenset(pages.exclude(session__waking=None).values_list("session__waking", flat=True))


def timers_for(gone: Gone) -> frozenset[UUID]:
    """The timers that were set in answer to what goes, and those of its companion that alone tell it again."""
    mine, told_by = Timer.objects.filter(companion=gone.companion_id), gone.all_messages
    noted = Q(by=Timer.By.COMPANION, waking=None) & ~Q(note="")
    rows = mine.filter(Q(message__in=told_by) | noted).values_list("pk", "message", "note", "message__text")
    found = {pk for pk, id, note, _ in rows if id in gone.messages or (id in told_by and gone.tells(note))}
    again = {
        pk: gone.read(note)
        for pk, id, note, text in rows
        if id not in told_by and gone.tells(note, [text or ""])
    }
    told = only_told(gone) if again else frozenset()
    return frozenset(found | {pk for pk, words in again.items() if words & told})


def timers_set_in(gone: Gone, wakings: Collection[UUID]) -> frozenset[UUID]:
    """The timers that were set in these wakings."""
    if not wakings:
        return NONE
    mine = Timer.objects.filter(companion=gone.companion_id)
    return frozenset(mine.filter(waking__in=wakings).values_list("pk", flat=True))


def _states(gone: Gone, wakings: Collection[UUID], known: Collection[UUID]) -> frozenset[UUID]:
    """From the first on that comes of it, every inner state: each goes on from the one before."""
    mine = InnerState.objects.filter(companion=gone.companion_id)
    drawn = Q(seen__overlap=list(gone.all_messages)) | Q(waking__in=wakings) | Q(pk__in=known)
    first = next((one.number for one in mine.filter(drawn).order_by("number") if _comes_of(one, gone)), None)
    if first is None:
        return NONE
    return frozenset(mine.filter(number__gte=first).values_list("pk", flat=True))


def _comes_of(state: InnerState, gone: Gone) -> bool:
    """Whether more is behind it than messages of which only some words go, none of them in it."""
    seen = set(state.seen)
    return bool(seen & gone.messages) or not seen & gone.sources or gone.tells(state.text)


def _pages(gone: Gone, wakings: Collection[UUID]) -> frozenset[UUID]:
    if not wakings:
        return NONE
    entries = DiaryEntry.objects.filter(companion=gone.companion_id, session__waking__in=wakings)
    return frozenset(entries.exclude(memory=None).values_list("memory", flat=True))
