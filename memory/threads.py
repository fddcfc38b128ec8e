"""Threads: what is open between companion and person; opened and settled by what is learnt, shown when due."""

from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime, timedelta, tzinfo
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q
from django.db.models.functions import Coalesce

from memory.language import pattern_of
from memory.learning.answers import Learnt
from memory.learning.rules.subjects import is_own, is_same_subject
from memory.learning.talk import Line, Talk
from memory.models import Learning, Memory, Thread
from memory.recall.query import Names
from text.dates import TELLS_PAST, find_days_ahead, find_relative_days, name_whole_day, tells_past
from text.strings import folded, quoted, shorten

MAX_SHOWN, MAX_UNDATED = 5, 2
DAYS_AHEAD, DAYS_AFTER = 1, 3  # a thread is shown from so long before its day until so long after it,
UNDATED_AFTER, UNDATED_FOR = timedelta(hours=12), timedelta(days=14)  # without a day, that long after opening
GIVEN_UP_AFTER, UNDATED_GIVEN_UP_AFTER = timedelta(days=14), timedelta(days=60)  # then it is dropped
FACT_HORIZON = timedelta(days=90)  # a fact about a later day opens no thread
MAX_TEXT_CHARACTERS = 300
MAX_OPEN = 200  # open threads that are compared with what is learnt
DATED = (Memory.Kind.PROMISE, Memory.Kind.EVENT, Memory.Kind.FACT)
TITLE = "Open between you (come back to it where it fits, once, and not to what has been told since):"
KINDS = {Memory.Kind.PROMISE: "Promised", Memory.Kind.EVENT: "Coming up", Memory.Kind.FACT: "Coming up"}

WORRIES, HAPPENS_OFTEN = pattern_of("worries"), pattern_of("happens_often")


# -- opening and settling


def open_thread(memory: Memory, due_on: date | None, now: datetime) -> Thread:
    """Return the memory's thread, opened if it has none yet. A thread that was closed stays closed."""
    return Thread.objects.get_or_create(
        memory=memory, companion_id=memory.companion_id, defaults={"due_on": due_on, "opened_at": now}
    )[0]


def close_thread(thread: Thread, state: Thread.State, now: datetime, settled_by: UUID | None = None) -> bool:
    """Settle or drop the thread, also if it is closed in the other way; return whether that changed anything."""
    others = Thread.objects.filter(pk=thread.pk, companion_id=thread.companion_id).exclude(state=state)
    return bool(others.update(state=state, closed_at=now, settled_by_id=settled_by))


def reopen_thread(thread: Thread, now: datetime, zone: tzinfo) -> None:
    """Reopen a closed thread as of `now`, without its due day if that is past."""
    mine = Thread.objects.filter(pk=thread.pk, companion_id=thread.companion_id)
    closed = mine.exclude(state=Thread.State.OPEN)
    closed.filter(due_on__lt=now.astimezone(zone).date()).update(due_on=None)
    closed.update(state=Thread.State.OPEN, opened_at=now, closed_at=None, settled_by=None)


def move_thread(memory: Memory, to: Memory) -> bool:
    """Move a memory's thread to another memory, if that has none; return whether a thread was moved."""
    mine = Thread.objects.filter(companion_id=memory.companion_id)
    if mine.filter(memory=to).exists():
        return False
    return bool(mine.filter(memory=memory).update(memory=to))


@transaction.atomic
def update_threads(
    learning: Learning,
    entries: Mapping[str, Learnt],
    known: Sequence[Memory],
    talk: Talk,
    *,
    now: datetime,
    zone: tzinfo,
    names: Names,
) -> None:
    """Open, settle and drop threads by what was just learnt from the talk. Call it with the companion locked.

    `entries` gives for the id of each memory that was added or told again the model's entry. A memory opens a thread if
    it names a day to come, if the model calls it open, or if it is a worry about which nothing is open yet. A thread is
    settled if the model says so, or if its outcome is told on or after its day. It is dropped if its memory was closed
    without that.
    """
    companion_id = learning.companion_id
    touched = [UUID(row["memory"]) for row in learning.verdicts if row.get("memory")]
    memories = Memory.objects.of(companion_id).open().filter(pk__in=touched).defer("entry", "quotes")
    told = {memory.pk: entries.get(str(memory.pk)) for memory in memories}
    # Only what was learnt just now tells how something ended, not what was known before.
    news = {
        memory.pk: entry
        for memory in memories
        if (entry := told[memory.pk]) and folded(entry.text) == folded(memory.text)
    }
    settle_threads(companion_id, list(memories), news, known, talk, now=now, zone=zone, names=names)
    for memory in memories:
        entry = told[memory.pk]
        is_open = entry is not None and entry.thread == "open"
        due_on = find_due_day(memory, now, zone, entry.happened_on if entry else None)
        if entry and is_open:
            due_on = due_on or _find_named_day(entry, talk, now.astimezone(zone).date())
        if due_on or is_open or (_is_worry(memory) and not _has_thread(memory, now, names)):
            open_thread(memory, due_on, now)


def open_if_dated(memory: Memory, now: datetime, zone: tzinfo) -> None:
    """Open a thread for the memory if it names a day to come."""
    if due_on := find_due_day(memory, now, zone):
        open_thread(memory, due_on, now)


def _find_named_day(entry: Learnt, talk: Talk, today: date) -> date | None:
    """Return the entry's day if it is from today on and a line behind the entry names it, else None."""
    on = entry.happened_on
    if on is None or on < today:
        return None
    named = {term for line in talk.lines_of(entry.sources) for term in line.days}
    return on if named & {f"@{on:%Y-%m-%d}", f"@{on:%m-%d}"} else None


def _is_worry(memory: Memory) -> bool:
    """Return whether the memory is a fact about somebody's worry that is neither denied nor always there."""
    is_fact = memory.kind == Memory.Kind.FACT
    return is_fact and bool(WORRIES.search(memory.text)) and not HAPPENS_OFTEN.search(memory.text)


def _has_thread(memory: Memory, now: datetime, names: Names) -> bool:
    """Return whether an open thread is about the same matter as the memory."""
    mine = Thread.objects.open().filter(companion_id=memory.companion_id)
    texts = mine.order_by("-opened_at").values_list("memory__text", flat=True)[:MAX_OPEN]
    called = list(names.values())
    return any(is_same_subject(memory.text, [], text, [], called, now) for text in texts)


def find_due_day(memory: Memory, now: datetime, zone: tzinfo, meant: date | None = None) -> date | None:
    """Return the nearest day from today on that a promise, event or fact names, or None; a fact's within 90 days. Today
    is none for an event or a fact of the past: "argued on 4 May", "had not begun". If the day that is `meant` is among
    them, it is returned even if another one is nearer: "on Friday, not on Thursday".
    """
    if memory.kind not in DATED:
        return None
    today, said_on = now.astimezone(zone).date(), memory.happened_at.astimezone(zone).date()
    days = [said_on] if said_on > today else find_days_ahead(memory.text, said_on)
    days = sorted(days, key=lambda day: day != meant)
    is_past = memory.kind != Memory.Kind.PROMISE and tells_past(memory.text)
    due_on = next((day for day in days if day >= today and not (is_past and day == today)), None)
    is_far = due_on is not None and memory.kind == Memory.Kind.FACT and due_on - today > FACT_HORIZON
    return None if is_far else due_on


def settle_threads(
    companion_id: UUID,
    memories: Sequence[Memory],
    told: Mapping[UUID, Learnt],
    known: Sequence[Memory],
    talk: Talk,
    *,
    now: datetime,
    zone: tzinfo,
    names: Names,
) -> None:
    """Settle the open threads whose end these memories, just learnt, tell; then drop those whose memory is closed.

    `told` gives the model's entry for each memory. Whatever the model says, a thread is settled only by a line that is
    later than those that tell of the thread itself.
    """
    mine = Thread.objects.open().filter(companion_id=companion_id)
    told_at = Coalesce(Max("memory__sources__said_at"), "memory__happened_at")
    others = mine.exclude(memory__in=memories).annotate(told_at=told_at).select_related("memory")
    threads, called = list(others.order_by("-opened_at")[:MAX_OPEN]), list(names.values())
    for memory in memories if threads else ():
        if (entry := told.get(memory.pk)) is None:
            continue
        of = entry.find_known(known) if entry.thread == "settled" else None  # as the model says
        for thread in threads:
            line = _find_telling(entry, talk, thread.told_at)
            if line and (
                thread.memory == of
                or _tells_end(thread, memory.text, entry.quotes, line.said_at, called, zone)
            ):
                close_thread(thread, Thread.State.SETTLED, now, line.message_id)
    mine.filter(memory__closed_at__isnull=False).update(state=Thread.State.DROPPED, closed_at=now)


def settle_promises(
    companion_id: UUID, note: str, message_id: UUID, *, now: datetime, zone: tzinfo, names: Names
) -> None:
    """Settle the companion's own promises of today that are about what a reminder's `note` says: it was just given."""
    mine = Thread.objects.open().filter(companion_id=companion_id, due_on=now.astimezone(zone).date())
    for thread in mine.filter(memory__kind=Memory.Kind.PROMISE).select_related("memory"):
        text, called = thread.memory.text, list(names.values())
        if is_own(text, names["companion"]) and is_same_subject(note, [], text, [], called, now):
            close_thread(thread, Thread.State.SETTLED, now, message_id)


def _find_telling(entry: Learnt, talk: Talk, after: datetime) -> Line | None:
    """Return the first line after `after` that tells the entry; only the person's lines count, if there are any."""
    lines = talk.lines_of(entry.sources)
    telling = [line for line in lines if line.speaker == "user"] or lines
    return next((line for line in telling if line.said_at > after), None)


def _tells_end(
    thread: Thread, text: str, quotes: Sequence[str], said_at: datetime, called: Collection[str], zone: tzinfo
) -> bool:
    """Return whether a text tells how the thread came out: about the same matter, said after its due day, or on that
    day in the past tense, and without a later day. False for a thread without a due day.
    """
    if thread.due_on is None:
        return False
    said_on = said_at.astimezone(zone).date()
    if said_on < thread.due_on or any(day > said_on for day in find_days_ahead(text, said_on)):
        return False
    if said_on == thread.due_on and not TELLS_PAST.search(folded(text)):
        return False
    return is_same_subject(text, quotes, thread.memory.text, [], called, said_at)


def drop_old(now: datetime) -> None:
    """Drop all threads that nobody came back to: two weeks after their day, or two months after opening without one."""
    given_up = Q(due_on__lt=now.date() - GIVEN_UP_AFTER)
    given_up |= Q(due_on=None, opened_at__lt=now - UNDATED_GIVEN_UP_AFTER)
    old = Thread.objects.open().filter(given_up)
    old.update(state=Thread.State.DROPPED, closed_at=now)


# -- showing in the prompt


def load_open_threads(companion_id: UUID, now: datetime, zone: tzinfo) -> list[Thread]:
    """Return the open threads to be shown now, nearest day first, at most five. One query.

    Threads with a day are shown from the day before until three days after; without a day, at most two, from half a day
    to two weeks after opening. Left out are those whose memory is closed, private, stale or from a hidden message.
    """
    today = now.astimezone(zone).date()
    dated = Q(due_on__range=(today - timedelta(DAYS_AFTER), today + timedelta(DAYS_AHEAD)))
    undated = Q(due_on=None, opened_at__range=(now - UNDATED_FOR, now - UNDATED_AFTER))
    hidden = Memory.sources.through.objects.filter(memory=OuterRef("memory"), message__is_hidden=True)
    holds = {"memory__closed_at": None, "memory__is_private": False, "memory__is_stale": False}
    mine = Thread.objects.open().filter(dated | undated, companion_id=companion_id, **holds)
    told = ("memory__text", "memory__kind", "memory__happened_at")
    mine = mine.exclude(Exists(hidden)).select_related("memory").only("due_on", "opened_at", "memory", *told)
    found = list(mine.order_by(F("due_on").asc(nulls_last=True), "-memory__importance", "pk")[:50])
    near = sorted((thread for thread in found if thread.due_on), key=lambda thread: abs(_days(thread, today)))
    return [*near, *[thread for thread in found if not thread.due_on][:MAX_UNDATED]][:MAX_SHOWN]


def leave_out_told(
    threads: Sequence[Thread], said: Sequence[tuple[str, datetime]], names: Names, zone: tzinfo
) -> list[Thread]:
    """Return the threads except those whose end the person has told in `said`, from which nothing is learnt yet."""
    called = list(names.values())

    def is_told(thread: Thread) -> bool:
        later = (line for line in said if line[1] > thread.opened_at)
        return any(_tells_end(thread, text, [], at, called, zone) for text, at in later)

    return [thread for thread in threads if not is_told(thread)]


def _days(thread: Thread, today: date) -> int:
    return (thread.due_on - today).days if thread.due_on else 0


def render_threads(threads: Sequence[Thread], today: date, zone: tzinfo) -> list[str]:
    """Return the threads as lines of a prompt, or an empty list if there are none. `today` and `zone` are the person's.

    What names its day by the one on which it was told ("next Friday") is followed by that one.
    """
    lines = []
    for thread in threads:
        text = shorten(" ".join(thread.memory.text.split()), MAX_TEXT_CHARACTERS)
        told_at = thread.memory.happened_at.astimezone(zone)
        is_relative = bool(find_relative_days(text, told_at))
        told = f" (told on {name_whole_day(told_at.date(), today)})" if is_relative else ""
        lines.append(f"- {_describe(thread, today)}: {quoted(text)}{told}")
    return [TITLE, *lines] if lines else []


def _describe(thread: Thread, today: date) -> str:
    kind = KINDS.get(Memory.Kind(thread.memory.kind), "Open")
    if thread.due_on is None:
        return f"{kind}, without a day" if kind == "Promised" else "Open"
    days = _days(thread, today)
    when = {1: "tomorrow", 0: "today", -1: "yesterday"}.get(days, f"{abs(days)} days ago")
    return f"{kind if days >= 0 or kind == 'Promised' else 'Was'} {when}"
