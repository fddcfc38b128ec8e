"""Create, import, change, search and export lorebooks, within limits."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max, Q
from django.utils.translation import gettext as _

from accounts.models import User
from cards.lorebooks import MAX_ENTRIES
from cards.reader import refusal
from cards.schema import LOREBOOK, normalise
from cards.values import CardFormatError
from cards.writer import write_lorebook
from companions.errors import LimitError, LoreError
from companions.lore.explanation import describe_pattern_problem
from companions.lore.quota import require_room
from companions.lore.rules.keys import PatternError, compile_pattern, is_pattern_literal
from companions.models import Companion, Lorebook, LoreEntry
from text.strings import one_line

BOOKS_EACH = 100
BOOK_FIELDS = {"name", "entries", "scan_depth", "token_budget", "recursive_scanning"}
MAX_CONTENT_CHARACTERS = 20_000
MAX_KEYS = 100  # keys of one entry, and as many secondary keys
MAX_KEY_CHARACTERS = 500
BOOK_ROWS = ("name", "is_enabled", "scan_depth", "token_budget", "is_recursive", "data")


def read_book(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Normalise and check a lorebook's JSON.

    Raise FilesError if the JSON is no lorebook, LimitError if it has too many entries, LoreError if one is too large.
    """
    try:
        book: dict[str, Any] = normalise({"spec": LOREBOOK, "data": dict(raw)})[0]["data"]
    except CardFormatError as error:
        raise refusal(error.code) from None
    check_book(book)
    return book


def check_book(book: Mapping[str, Any]) -> None:
    """Raise LimitError if the normalised lorebook has too many entries, or LoreError if one of them is too large."""
    entries: Sequence[Mapping[str, Any]] = book["entries"]
    _check_count(len(entries))
    for number, entry in enumerate(entries, start=1):
        try:
            check_entry(entry)
        except LoreError as error:
            sentence = _("Entry %(number)s cannot be saved: %(detail)s")
            detail = sentence % {"number": number, "detail": error.detail}
            raise LoreError(error.code, detail, error.field) from None


def check_entry(entry: Mapping[str, Any]) -> None:
    """Raise LoreError, naming the field, if the normalised entry is too large."""
    if len(entry["content"]) > MAX_CONTENT_CHARACTERS:
        detail = _("An entry can have at most %(most)s characters.")
        raise LoreError("content_too_long", detail % {"most": f"{MAX_CONTENT_CHARACTERS:,}"}, "content")
    for field in ("keys", "secondary_keys"):
        keys = entry[field]
        if len(keys) > MAX_KEYS:
            raise LoreError(
                "too_many_keys", _("There can be at most %(most)s keys.") % {"most": MAX_KEYS}, field
            )
        if any(len(key) > MAX_KEY_CHARACTERS for key in keys):
            detail = _("A key can have at most %(most)s characters.") % {"most": MAX_KEY_CHARACTERS}
            raise LoreError("key_too_long", detail, field)


def check_patterns(keys: Sequence[str]) -> None:
    """Raise LoreError for the first key between slashes that is no valid pattern."""
    for key in keys:
        if is_pattern_literal(key):
            try:
                compile_pattern(key, is_case_sensitive=False)
            except PatternError as error:
                sentence = f"{key}: {describe_pattern_problem(str(error))}"
                raise LoreError("bad_pattern", sentence) from None


def make_book(
    user: User,
    book: Mapping[str, Any],
    now: datetime,
    *,
    companion: Companion | None = None,
    is_enabled: bool = True,
) -> Lorebook:
    """Check and store a normalised lorebook as the companion's own, or for all companions of the user's if None.

    Raise LoreError or LimitError.
    """
    check_book(book)
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=user.pk)
        if Lorebook.objects.owned_by(user).count() >= BOOKS_EACH:
            detail = _(
                "You already have %(count)s lorebooks, which is the most you can have. Delete one first."
            )
            raise LimitError("too_many_lorebooks", detail % {"count": BOOKS_EACH})
        made = _store_book(user, book, now, companion, is_enabled)
        require_room(user)
    return made


def replace_book(
    kept: Lorebook,
    book: Mapping[str, Any],
    now: datetime,
    *,
    companion: Companion | None,
    is_enabled: bool,
) -> None:
    """Replace the settings and entries of a book by those of a normalised lorebook. Raise LoreError or LimitError.

    All entries become new rows, so rules that count messages since an entry fired start over.
    """
    check_book(book)
    with transaction.atomic():
        Lorebook.objects.select_for_update().get(pk=kept.pk)
        new = _store_book(kept.user, book, now, companion, is_enabled)
        for field in BOOK_ROWS:
            setattr(kept, field, getattr(new, field))
        kept.companion = companion
        kept.save(update_fields=[*BOOK_ROWS, "companion"])
        kept.entries.all().delete()
        new.entries.update(lorebook=kept)
        new.delete()
        require_room(kept.user)


@transaction.atomic
def delete_book(book: Lorebook) -> None:
    """Delete the book with its entries; as in `replace_book`, its own row is locked first."""
    if locked := Lorebook.objects.select_for_update().filter(pk=book.pk).first():
        locked.delete()


def add_entry(book: Lorebook, data: Mapping[str, Any]) -> LoreEntry:
    """Append an entry to the book. Raise LoreError or LimitError."""
    check_entry(data)
    with transaction.atomic():
        Lorebook.objects.select_for_update(no_key=True).get(pk=book.pk)
        _check_count(book.entries.count() + 1)
        last = book.entries.aggregate(last=Max("place"))["last"]
        place = 0 if last is None else last + 1
        entry = LoreEntry.objects.create(lorebook=book, place=place, data=dict(data))
        require_room(book.user)
        return entry


def change_entry(entry: LoreEntry, data: Mapping[str, Any]) -> None:
    """Replace the entry's data. Raise LoreError or LimitError."""
    check_entry(data)
    with transaction.atomic():
        entry.data = dict(data)
        entry.save(update_fields=["data"])
        require_room(entry.lorebook.user)


def compose_book(book: Lorebook) -> dict[str, Any]:
    """Return the book with its entries as a normalised V3 lorebook. Raise LoreError if it is too large."""
    try:
        return normalise({"spec": LOREBOOK, "data": book.as_card()})[0]
    except CardFormatError:
        raise LoreError(
            "lorebook_too_large", _("This lorebook is too large for one file. Split it into two.")
        ) from None


def write_book(book: Lorebook, now: datetime) -> bytes:
    """Return the book as the content of a JSON file. Raise LoreError if it is too large."""
    return write_lorebook(compose_book(book), now)


def find_entries(book: Lorebook, text: str) -> Any:
    """Return the entries, in their order, that contain the text in their name, keys or content; all of them for ""."""
    found = book.entries.order_by("place", "id")
    if not text:
        return found
    fields = ("name", "comment", "keys", "secondary_keys", "content")
    wanted = Q()
    for field in fields:
        wanted |= Q(**{f"data__{field}__icontains": text})
    return found.filter(wanted)


def _store_book(
    user: User, book: Mapping[str, Any], now: datetime, companion: Companion | None, is_enabled: bool
) -> Lorebook:
    """Store a normalised lorebook that was checked, with its entries."""
    stored = Lorebook.objects.create(
        user=user,
        companion=companion,
        name=one_line(book.get("name") or "")[:200],
        is_enabled=is_enabled,
        scan_depth=_clamp(book.get("scan_depth"), 1000),
        token_budget=_clamp(book.get("token_budget"), 1_000_000),
        is_recursive=book.get("recursive_scanning"),
        data={key: value for key, value in book.items() if key not in BOOK_FIELDS},
        created_at=now,
    )
    LoreEntry.objects.bulk_create(
        LoreEntry(lorebook=stored, place=place, data=data) for place, data in enumerate(book["entries"])
    )
    return stored


def _check_count(count: int) -> None:
    if count > MAX_ENTRIES:
        detail = _("A lorebook can have at most %(most)s entries.")
        raise LimitError("too_many_entries", detail % {"most": f"{MAX_ENTRIES:,}"})


def _clamp(number: Any, most: int) -> int | None:
    return min(max(number, 0), most) if isinstance(number, int) and not isinstance(number, bool) else None
