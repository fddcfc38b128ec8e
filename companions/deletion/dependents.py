"""What was derived from data that is to be deleted, in the companion's life: found here, withdrawn in `withdrawal`.

Message     said unprompted because of it: deleted with it, so part of its scope (`find_scope`)
Timer       set in answer to it, or with its words (`find_timers`), or in a waking that was shown it
Waking      woken because of it, or shown it (`find_dependents`)
InnerState  written after seeing it, or carried over from such a state (`_find_states`)
DiaryEntry  a page written in a waking that was shown it (`_find_pages`)

`memory.deletion.derived` handles what was derived in memory.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet

from companions.models import Companion, InnerState, Message, Timer, Waking
from memory.deletion import DeletionScope, find_unique_words
from memory.models import DiaryEntry, Memory
from text.strings import split_sentences

NONE: frozenset[UUID] = frozenset()
DRAWN_FROM_TALK = {InnerState.By.REFLECTION, InnerState.By.CLOSING}
TOLD_AGAIN_SHARE = 0.6  # a sentence is carried over from a deleted state if more of its words come from there


# -- the scope: what a person deletes, and what was said unprompted because of it


def find_scope(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message],
    sources: Collection[Message],
    memories: Collection[Memory],
    hides: bool = False,
) -> tuple[DeletionScope, list[Message]]:
    """Return the scope of deleting or hiding these: with the reminders of them, and the memories of all these messages.

    Return the reminders beside it. `hides` as in `deletion.remove`.
    """
    mirrors = find_mirrors(companion, messages)
    known = [*memories, *([] if hides else mirrors)]
    reminders = _find_reminders(companion, now, messages=messages, sources=sources, memories=known)
    told = find_mirrors(companion, reminders) if reminders else []
    all_memories = list({memory.pk: memory for memory in (*memories, *mirrors, *told)}.values())
    return build_scope(companion, now, [*messages, *reminders], sources, all_memories), reminders


def build_scope(
    companion: Companion,
    now: datetime,
    messages: Collection[Message] = (),
    sources: Collection[Message] = (),
    memories: Collection[Memory] = (),
) -> DeletionScope:
    """Return the scope of deleting these messages and memories; `sources`, messages behind the memories, are kept."""
    return DeletionScope(
        companion_id=companion.pk,
        now=now,
        names=tuple(companion.names.values()),
        messages=frozenset(message.pk for message in messages),
        sources=frozenset(message.pk for message in sources),
        memories=frozenset(memory.pk for memory in memories),
        texts=(*(message.text for message in messages), *(memory.text for memory in memories)),
    )


def find_mirrors(companion: Companion, messages: Collection[Message]) -> list[Memory]:
    """Return the messages' own memories."""
    return list(Memory.everywhere.of(companion.pk).filter(message__in=messages).defer("entry"))


def reminders_of(message: Message, now: datetime) -> list[Message]:
    """Return the unprompted messages that deleting this message would delete, too."""
    mirrors = find_mirrors(message.companion, [message])
    return _find_reminders(message.companion, now, messages=[message], memories=mirrors)


def _find_reminders(
    companion: Companion,
    now: datetime,
    *,
    messages: Collection[Message],
    sources: Collection[Message] = (),
    memories: Collection[Memory],
) -> list[Message]:
    """Return the unprompted messages that resulted from these messages and memories, or from others returned here.

    Those that resulted from the `sources`, or from memories learnt from the messages, are returned only if they share a
    word with what is deleted.
    """
    found: dict[UUID, Message] = {}
    while True:
        mirrors = find_mirrors(companion, found.values())
        scope = build_scope(companion, now, [*messages, *found.values()], sources, [*memories, *mirrors])
        new = {message.pk: message for message in _find_said_for(scope) if message.pk not in found}
        if not new:
            return list(found.values())
        found |= new


def _find_said_for(scope: DeletionScope) -> list[Message]:
    """Return the messages said in wakings that resulted from the scope; if only by a learnt memory, those that share a
    word with the scope.
    """
    timers, woken = find_timers(scope), NONE
    while True:
        mine = Waking.objects.filter(companion=scope.companion_id)
        wider = _ids(mine.filter(Q(timer__in=timers) | Q(about__in=scope.memories)))
        if wider == woken:
            break
        woken, timers = wider, timers | _find_timers_set_in(scope, wider)
    said = Message.everywhere.filter(companion=scope.companion_id, waking__isnull=False)
    said = said.exclude(pk__in=scope.all_messages)
    learnt = Q(waking__about__sources__in=scope.all_messages) | Q(waking__about__message__in=scope.messages)
    near = said.filter(learnt).exclude(waking__in=woken).distinct()
    return [*said.filter(waking__in=woken), *(message for message in near if scope.tells(message.text))]


# -- what was derived from a scope


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependents:
    """The ids of rows derived from a deletion's scope: timers, wakings, inner states, memories that mirror diary pages.

    `wakings` were shown some of the scope; `woken`, among these, woke because of it; `wrote` only wrote a diary page
    that is deleted, and nothing else was derived through them.
    """

    timers: frozenset[UUID] = NONE
    wakings: frozenset[UUID] = NONE
    woken: frozenset[UUID] = NONE
    wrote: frozenset[UUID] = NONE
    states: frozenset[UUID] = NONE
    pages: frozenset[UUID] = NONE

    @property
    def shown(self) -> frozenset[UUID]:
        """The ids of dependents that prompts may have contained."""
        return self.timers | self.states | self.pages


def find_dependents(
    scope: DeletionScope, more: Collection[UUID] = (), begun: Dependents | None = None
) -> Dependents:
    """Return everything that was derived from the scope, directly or through other derived rows.

    `more` are memories that are deleted or shortened besides those of the scope; `begun` are dependents found already.
    """
    mine = Waking.objects.filter(companion=scope.companion_id)
    ids = scope.all_messages | scope.memories | frozenset(more)
    found = begun or Dependents(timers=find_timers(scope))
    while True:
        timers = found.timers | _find_timers_set_in(scope, found.wakings)
        woken = found.woken | _ids(mine.filter(Q(timer__in=timers) | Q(about__in=ids)))
        wakings = found.wakings | woken | _ids(mine.filter(shown__overlap=list(ids | found.shown)))
        wider = replace(found, timers=timers, woken=woken, wakings=wakings)
        wider = replace(wider, states=_find_states(scope, wider), pages=_find_pages(scope, wakings))
        if wider == found:
            break
        found = wider
    written = DiaryEntry.objects.filter(
        companion=scope.companion_id, memory__in=ids, session__waking__isnull=False
    )
    return replace(found, wrote=found.wrote | frozenset(written.values_list("session__waking", flat=True)))


def find_timers(scope: DeletionScope) -> frozenset[UUID]:
    """Return the timers that were set in answer to the scope's messages or repeat their words.

    A timer set in answer to a source counts if its note shares a word with the scope; one that the companion set
    otherwise, if its note has words of the scope that no remaining memory contains.
    """
    noted = Q(by=Timer.By.COMPANION, waking=None) & ~Q(note="")
    mine = Timer.everywhere.filter(Q(message__in=scope.all_messages) | noted, companion=scope.companion_id)
    found, telling = set[UUID](), dict[UUID, frozenset[str]]()
    for timer in mine.select_related("message"):
        is_source = timer.message_id in scope.sources
        if timer.message_id in scope.messages or (is_source and scope.tells(timer.note)):
            found.add(timer.pk)
        elif not is_source and scope.tells(timer.note, [timer.message.text] if timer.message else []):
            telling[timer.pk] = scope.read(timer.note)
    unique = find_unique_words(scope) if telling else frozenset()
    return frozenset(found | {pk for pk, words in telling.items() if words & unique})


def _find_timers_set_in(scope: DeletionScope, wakings: Collection[UUID]) -> frozenset[UUID]:
    """Return the timers that were set in these wakings."""
    return (
        _ids(Timer.everywhere.filter(companion=scope.companion_id, waking__in=wakings)) if wakings else NONE
    )


def _find_states(scope: DeletionScope, found: Dependents) -> frozenset[UUID]:
    """Return the inner states that were derived from the scope, and the later ones that carried text over from those.

    Each state continues the one before. A later one is left out if it has sources of its own, shares no words with the
    scope beyond these, and repeats nothing that only a returned state contained.
    """
    mine = InnerState.objects.filter(companion=scope.companion_id)
    seen = Q(seen__overlap=list(scope.all_messages))
    drawn = mine.filter(seen | Q(waking__in=found.wakings) | Q(pk__in=found.states)).order_by("number")
    coming = {state.pk: state.number for state in drawn if _comes_of(state, scope)}
    if not coming:
        return NONE
    first = min(coming.values())
    before = mine.filter(number__lt=first).order_by("-number").values_list("text", flat=True).first() or ""
    known, carried, gone = scope.read(before), frozenset[str](), set[UUID]()
    later = list(mine.filter(number__gte=first).order_by("number"))
    seen_ids = {id for state in later for id in state.seen} - scope.all_messages
    texts = dict(Message.everywhere.filter(pk__in=seen_ids).values_list("pk", "text"))
    for state in later:
        own = [before, *(texts[id] for id in state.seen if id in texts)]
        has_own = bool(state.seen) or state.by not in DRAWN_FROM_TALK
        if (
            state.pk in coming
            or (gone and not has_own)
            or scope.tells(state.text, own)
            or _tells_again(state.text, carried, scope, own)
        ):
            gone.add(state.pk)
            carried |= scope.read(state.text) - known
        else:
            known |= scope.read(state.text)
    return frozenset(gone)


def _comes_of(state: InnerState, scope: DeletionScope) -> bool:
    """Return False if the state saw nothing of the scope but `sources`, at least one, and shares no word with it."""
    seen = set(state.seen)
    return bool(seen & scope.messages) or not seen & scope.sources or scope.tells(state.text)


def _tells_again(text: str, carried: frozenset[str], scope: DeletionScope, own: Collection[str]) -> bool:
    """Return whether more than TOLD_AGAIN_SHARE of the words of some sentence are `carried` over and in none of the
    `own` texts of its state.
    """
    new = carried.difference(*map(scope.read, own))
    sentences = map(scope.read, split_sentences(text) if new else ())
    return any(len(words & new) > TOLD_AGAIN_SHARE * len(words) for words in sentences)


def _find_pages(scope: DeletionScope, wakings: Collection[UUID]) -> frozenset[UUID]:
    """Return the memories that mirror the diary pages written in these wakings."""
    entries = DiaryEntry.objects.filter(companion=scope.companion_id, session__waking__in=wakings)
    return frozenset(entries.exclude(memory=None).values_list("memory", flat=True)) if wakings else NONE


def _ids(rows: QuerySet[Any]) -> frozenset[UUID]:
    return frozenset(rows.values_list("pk", flat=True))
