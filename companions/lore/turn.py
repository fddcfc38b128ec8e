"""The lore of one turn: loads the lorebooks in use, scans them for the talk, and records which entries fired."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from random import Random
from typing import Any
from uuid import UUID

from django.db.models import Q

from companions.lore.explanation import Explanation, explain
from companions.lore.rules.books import read_book
from companions.lore.rules.context import ScanContext
from companions.lore.rules.entries import Entry
from companions.lore.rules.scan import Placed, Scan, scan
from companions.models import Card, Companion, Lorebook, LoreEntry, LoreFiring, Message, Reply
from providers.selection import get_provider, preferring
from providers.tokens import estimate

MAX_DROPPED, MAX_DETAIL = 100, 200  # dropped entries in a reply's trace, and characters of each one's detail
MAX_KNOWN_CHARACTERS = 2_000_000  # a larger book is parsed each time instead of cached
MAX_TRIED_CHARACTERS = 10_000
BUDGET_SHARE = 5  # all books together may take 1/5 of the context window
NOTHING = Scan((), (), ())


@dataclass(slots=True)
class Course:
    """Message counts of the chosen branch up to a message, without hidden ones: the total `count`, the companion's
    `own`, the count at each message's id (`places`), and the counts at which each entry `fired`, by its key.
    """

    count: int = 0
    own: int = 0
    places: dict[UUID, int] = field(default_factory=dict)
    fired: Mapping[str, Sequence[int]] = field(default_factory=dict)


def load_books(companion: Companion) -> list[Lorebook]:
    """Return the enabled books with their entries: first the companion's own, then those for all of its person's."""
    books = Lorebook.objects.filter(user=companion.user_id, is_enabled=True)
    books = books.filter(Q(companion=companion) | Q(companion=None)).prefetch_related("entries")
    return sorted(books, key=lambda book: book.companion_id is None)


def read_entries(books: Sequence[Lorebook]) -> list[Entry]:
    """Return all entries of the books, parsed for a scan. Each one's key ends with its id."""
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


# Parsing two thousand entries takes 0.1 s in every turn, so a book that has not changed is not parsed again.
_read_known = lru_cache(maxsize=8)(_read)


def get_entry_id(key: str) -> UUID:
    """Return the id of the LoreEntry with this key in a scan."""
    return UUID(key.rpartition(":")[2])


def find_lore(
    companion: Companion, message: Message | None, talk: Sequence[tuple[str, str]], *, seed: int = 0
) -> Scan:
    """Return which lore enters the prompt that answers the message, and which matched but was left out.

    `talk` is the session up to the message, as pairs of role and text, oldest first. If `message` is None, the whole
    branch counts as said before. `seed` fixes the outcome of chance. Runs one query if the companion has no lorebook.
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
    """Return the lore for a prompt that answers no message and has no talk.

    It is in entries that need no key, whose key is in the persona or in another such entry, or that are still sticky or
    kept.
    Entries with a depth in the talk are placed after the description instead, since the prompt has no talk.
    """
    placed = find_lore(companion, None, [], seed=seed).placed
    return [
        replace(entry, place="after_desc", depth=None) if entry.place == "depth" else entry
        for entry in placed
    ]


def keep_firings(reply: Reply, message: Message, found: Scan) -> None:
    """Save the scan in the reply's trace, and the entries that fired at the message, for rules that count messages."""
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
    """Return the scan as a JSON-ready dict, without the entries' contents; empty if no entry matched."""
    placed = [{key: value for key, value in asdict(row).items() if key != "content"} for row in found.placed]
    dropped = [{**asdict(row), "detail": row.detail[:MAX_DETAIL]} for row in found.dropped[:MAX_DROPPED]]
    return {"placed": placed, "dropped": dropped} if placed or dropped else {}


def try_text(companion: Companion, text: str, now: datetime, *, seed: int) -> Explanation:
    """Return which entries would come in and which be left out, and why, if the text alone was the talk.

    Rules that count messages count those of the companion's branch as it is. Nothing is saved.
    """
    message = Message(companion=companion, text=text, said_at=now)
    with preferring(companion.preference):
        found = find_lore(companion, message, [(Message.Role.USER, text)], seed=seed)
    return explain(describe_scan(found))


def _make_context(
    companion: Companion, talk: Sequence[tuple[str, str]], course: Course, seed: int
) -> ScanContext:
    kept = Card.objects.filter(companion=companion).first()
    card = kept.data if kept else {}
    return ScanContext(
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
    """Return whether a rule of the entry depends on message counts of the whole branch."""
    counted = (entry.after_assistant, entry.every_assistant, entry.reverse_depth)
    return _is_timed(entry) or bool(entry.delay) or any(number is not None for number in counted)


def _is_timed(entry: Entry) -> bool:
    return bool(entry.sticky or entry.cooldown or entry.is_kept or entry.is_once)


def _load_course(companion: Companion, message: Message | None) -> Course:
    """Return the counts up to the message, which may not be saved; up to now if it is None."""
    said = Message.objects.filter(companion=companion).order_by("said_at", "id")
    is_unsaved = message is not None and message._state.adding
    if message and not is_unsaved:
        said = said.exclude(said_at__gt=message.said_at)
    course = Course()
    for pk, role, is_hidden in said.values_list("pk", "role", "is_hidden"):
        course.count += not is_hidden
        course.own += role == Message.Role.ASSISTANT and not is_hidden
        course.places[pk] = course.count
    course.count += is_unsaved
    return course


def _load_firings(companion: Companion, message: Message | None, course: Course) -> dict[str, list[int]]:
    """Return by entry key the message counts at which the entry fired on the chosen branch, except at this message."""
    firings = LoreFiring.objects.filter(companion=companion)
    fired: dict[str, list[int]] = {}
    for book, entry, at in firings.values_list("entry__lorebook", "entry", "message"):
        if at in course.places and not (message and at == message.pk):
            fired.setdefault(f"{book}:{entry}", []).append(course.places[at])
    return fired
