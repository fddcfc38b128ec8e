"""The lore of one turn: the books that count for a companion, what of them its talk calls, and what it has called."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from random import Random
from typing import Any
from uuid import UUID

from django.db.models import Q

from companions.lore.books import read_book
from companions.lore.context import Context
from companions.lore.entries import Entry
from companions.lore.explanation import Explanation, explain
from companions.lore.scan import Placed, Scan, scan
from companions.models import Card, Companion, Lorebook, LoreEntry, LoreFiring, Message, Reply
from providers.preference import preferring
from providers.selection import get_provider
from providers.tokens import estimate

MAX_DROPPED, MAX_DETAIL = 100, 200  # entries in a reply's trace, and characters of what is told of one
MAX_KNOWN_CHARACTERS = 2_000_000  # of a book that is not read again while it stays as it is
MAX_TRIED_CHARACTERS = 10_000
BUDGET_SHARE = 5  # of the context, one part in so many, for all books together
NOTHING = Scan((), (), ())


@dataclass(slots=True)
class Course:
    """The talk on the chosen branch until a message, without what is hidden: how many messages it has, how many of them
    are the companion's `own`, how many there were at each of `places`, and how many as each entry `fired`.
    """

    count: int = 0
    own: int = 0
    places: dict[UUID, int] = field(default_factory=dict)
    fired: Mapping[str, Sequence[int]] = field(default_factory=dict)


def load_books(companion: Companion) -> list[Lorebook]:
    """Return the books in use, with their entries: the companion's own, then its person's for all of theirs."""
    books = Lorebook.objects.filter(user=companion.user_id, is_enabled=True)
    books = books.filter(Q(companion=companion) | Q(companion=None)).prefetch_related("entries")
    return sorted(books, key=lambda book: book.companion_id is None)


def read_entries(books: Sequence[Lorebook]) -> list[Entry]:
    """Return all entries of the books as a scan reads them; the key of each ends with its id."""
    entries: list[Entry] = []
    for book in books:
        written = [
            {**entry.data, "id": str(entry.pk), "name": entry.title[:200]} for entry in book.entries.all()
        ]
        content = json.dumps({**book.as_card(), "entries": written})
        read = _read_known if len(content) <= MAX_KNOWN_CHARACTERS else _read
        entries += read(str(book.pk), content, 0 if book.companion_id else 1)
    return entries


def _read(key: str, content: str, rank: int) -> Sequence[Entry]:
    return tuple(read_book(key, json.loads(content), rank))


# To read two thousand entries takes 0.1 s, in each turn: a book that is as it was is not read again.
_read_known = lru_cache(maxsize=8)(_read)


def get_entry_id(key: str) -> UUID:
    """Return the id of the LoreEntry that a scan knows by this key."""
    return UUID(key.rpartition(":")[2])


def find_lore(
    companion: Companion, message: Message | None, talk: Sequence[tuple[str, str]], *, seed: int = 0
) -> Scan:
    """Return which lore enters the prompt that answers this message, and which was called and does not.

    `talk` is the session until then, as roles and texts, the oldest first; without a message all was said before. The
    seed decides where chance does. One query where the companion has no lorebook.
    """
    books = load_books(companion)
    if not any(book.entries.all() for book in books):
        return NOTHING
    entries = read_entries(books)
    course = _load_course(companion, message) if any(map(_counts, entries)) else Course()
    if any(map(_is_timed, entries)):
        course.fired = _load_firings(companion, message, course)
    return scan(entries, _make_context(companion, talk, course, seed))


def find_constant_lore(companion: Companion, seed: int) -> Sequence[Placed]:
    """Return the lore that is always in mind, where nothing was said just now.

    What would stand within the talk comes after the description, for none is there.
    """
    placed = find_lore(companion, None, [], seed=seed).placed
    return [replace(one, place="after_desc", depth=None) if one.place == "depth" else one for one in placed]


def keep_firings(reply: Reply, message: Message, found: Scan) -> None:
    """Keep in the reply's trace which lore entered and why, and for rules that count messages what was called."""
    lore = describe_scan(found)
    if lore != reply.lore:
        reply.lore = lore
        Reply.objects.filter(pk=reply.pk).update(lore=lore)
    if found.fired:
        there = LoreEntry.objects.filter(pk__in=map(get_entry_id, found.fired)).values_list("pk", flat=True)
        LoreFiring.objects.bulk_create(
            [LoreFiring(companion_id=reply.companion_id, entry_id=id, message=message) for id in there],
            ignore_conflicts=True,
        )


def describe_scan(found: Scan) -> dict[str, list[dict[str, Any]]]:
    """Return the scan as JSON, without the contents of entries; empty where nothing was called."""
    placed = [{key: value for key, value in asdict(one).items() if key != "content"} for one in found.placed]
    dropped = [{**asdict(one), "detail": one.detail[:MAX_DETAIL]} for one in found.dropped[:MAX_DROPPED]]
    return {"placed": placed, "dropped": dropped} if placed or dropped else {}


def try_text(companion: Companion, text: str, now: datetime, *, seed: int) -> Explanation:
    """Return which entries the text would call and why, and which are left out, as if it was said now and nothing
    before; nothing is kept of it.
    """
    message = Message(companion=companion, text=text, said_at=now)
    with preferring(companion.preference):
        found = find_lore(companion, message, [(Message.Role.USER, text)], seed=seed)
    return explain(describe_scan(found))


def _make_context(
    companion: Companion, talk: Sequence[tuple[str, str]], course: Course, seed: int
) -> Context:
    kept = Card.objects.filter(companion=companion).first()
    card = kept.data if kept else {}
    return Context(
        messages=talk,
        assistant_messages=course.own,
        message_count=max(course.count, len(talk)),
        chance=lambda key: Random(f"{seed} {key}").random(),  # noqa: S311 (nothing secret hangs on it)
        estimate=lambda text: estimate(companion.expand(text)),
        budget=get_provider().context_tokens // BUDGET_SHARE,
        greeting=companion.conversation.greeting,
        fired_before=course.fired,
        expand=companion.expand,
        persona=companion.user.about,
        description=companion.persona,
        personality=companion.personality,
        depth_prompt=companion.depth_prompt,
        scenario=companion.scenario,
        creator_notes=str(card.get("creator_notes", "")),
        character_name=companion.name,
        character_tags=[tag for tag in card.get("tags", ()) if isinstance(tag, str)],
    )


def _counts(entry: Entry) -> bool:
    """Return whether a rule of the entry counts the messages of the whole talk."""
    counted = (entry.after_assistant, entry.every_assistant, entry.reverse_depth)
    return _is_timed(entry) or bool(entry.delay) or any(number is not None for number in counted)


def _is_timed(entry: Entry) -> bool:
    return bool(entry.sticky or entry.cooldown or entry.is_kept or entry.is_once)


def _load_course(companion: Companion, message: Message | None) -> Course:
    said = Message.objects.filter(companion=companion).order_by("said_at", "id")
    if message and not message._state.adding:
        said = said.exclude(said_at__gt=message.said_at)
    course = Course()
    for pk, role, is_hidden in said.values_list("pk", "role", "is_hidden"):
        course.count += not is_hidden
        course.own += role == Message.Role.ASSISTANT and not is_hidden
        course.places[pk] = course.count
    return course


def _load_firings(companion: Companion, message: Message | None, course: Course) -> dict[str, list[int]]:
    """Return at how many messages each entry was called on the chosen branch, before this message."""
    firings = LoreFiring.objects.filter(companion=companion)
    fired: dict[str, list[int]] = {}
    for book, entry, at in firings.values_list("entry__lorebook", "entry", "message"):
        if at in course.places and not (message and at == message.pk):
            fired.setdefault(f"{book}:{entry}", []).append(course.places[at])
    return fired
