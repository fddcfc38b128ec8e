"""Lorebooks, for one companion or for all of a user's, in the form of V3 cards; and a test of which entries match."""

from datetime import datetime
from secrets import randbits
from typing import Annotated, Any
from uuid import UUID

from django.db.models import Count
from django.utils import timezone
from ninja import Field, Router, Schema, Status
from pydantic import StringConstraints

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import access
from companions.api.schemas import FilledText, IdempotencyKey, ListOut, Out, list_rows
from companions.lore import editing
from companions.lore.explanation import Explained
from companions.lore.turn import MAX_TRIED_CHARACTERS, try_text
from companions.models import Companion, Lorebook
from companions.pagination import PageQuery

router = Router(tags=["lorebooks"])
companions_router = Router(tags=["lorebooks"])
LOREBOOK = "/{uuid:lorebook_id}"
BOOK = (
    "A lorebook as in Character Card V3: name, scan_depth, token_budget, recursive_scanning, extensions, entries. "
    f"At most 2,000 entries, each of at most {editing.MAX_CONTENT_CHARACTERS:,} characters and {editing.MAX_KEYS} keys"
    f" of {editing.MAX_KEY_CHARACTERS} characters."
)


class LorebookIn(Schema):
    companion_id: UUID | None = Field(
        None, description="The companion that the lorebook belongs to; null for all of the user's companions."
    )
    is_enabled: bool = True
    book: dict[str, Any] = Field(description=BOOK)


class LorebookRowOut(Schema):
    id: UUID
    companion_id: UUID | None
    name: str
    is_enabled: bool
    entry_count: int
    created_at: datetime


class LorebooksOut(ListOut[LorebookRowOut]):
    pass


class LorebookOut(LorebookRowOut):
    book: dict[str, Any] = Field(description=BOOK)


class LoreTryIn(Schema):
    text: Annotated[FilledText, StringConstraints(max_length=MAX_TRIED_CHARACTERS)]


class FiredEntryOut(Schema):
    entry_id: UUID
    lorebook_id: UUID
    name: str
    code: str = Field(
        description="What activated the entry: key, recursion, constant, sticky, kept or activate."
    )
    why: str = Field(description="The explanation, as a sentence in the user's language.")
    place: str = Field(description="Where in the prompt the entry is placed, in words.")


class DroppedOut(Schema):
    entry_id: UUID
    lorebook_id: UUID
    name: str
    code: str = Field(
        description="What excluded the entry: a decorator's name, secondary_keys, group, probability, "
        "budget, delay, cooldown, pattern_invalid, …"
    )
    why: str


class LoreTriedOut(Schema):
    fired: list[FiredEntryOut] = Field(description="The activated entries, in the order of the prompt.")
    dropped: list[DroppedOut] = Field(description="Entries that were matched but left out.")


@router.get(
    "", response=LorebooksOut, operation_id="list_lorebooks", summary="List my lorebooks, newest first"
)
def list_lorebooks(request: SignedInRequest, query: PageQuery) -> dict[str, object]:
    mine = Lorebook.objects.owned_by(request.user).annotate(entry_count=Count("entries"))
    return list_rows(mine, "created_at", query)


@router.post("", response={201: LorebookOut}, operation_id="create_lorebook", summary="Create a lorebook")
def create_lorebook(request: SignedInRequest, body: LorebookIn, key: IdempotencyKey = None) -> Status[Out]:
    companion, book = _find_companion(request, body), editing.read_book(body.book)

    def make() -> UUID:
        now = timezone.now()
        admit_to(request.user, "lore", now)
        made = editing.make_book(request.user, book, now, companion=companion, is_enabled=body.is_enabled)
        return made.pk

    made_id, _ = create_once(request.user, "create_lorebook", key, request.body, make)
    return Status(201, _lorebook_out(access.get_lorebook(request.user, made_id)))


@router.get(
    LOREBOOK, response=LorebookOut, operation_id="get_lorebook", summary="Get a lorebook with its entries"
)
def get_lorebook(request: SignedInRequest, lorebook_id: UUID) -> Out:
    return _lorebook_out(access.get_lorebook(request.user, lorebook_id))


@router.put(LOREBOOK, response=LorebookOut, operation_id="replace_lorebook", summary="Replace a lorebook")
def replace_lorebook(request: SignedInRequest, lorebook_id: UUID, body: LorebookIn) -> Out:
    kept, companion = access.get_lorebook(request.user, lorebook_id), _find_companion(request, body)
    book, now = editing.read_book(body.book), timezone.now()
    admit_to(request.user, "lore", now)
    editing.replace_book(kept, book, now, companion=companion, is_enabled=body.is_enabled)
    return _lorebook_out(kept)


@router.delete(
    LOREBOOK,
    response={204: None},
    operation_id="delete_lorebook",
    summary="Delete a lorebook with its entries",
)
def delete_lorebook(request: SignedInRequest, lorebook_id: UUID) -> Status[None]:
    editing.delete_book(access.get_lorebook(request.user, lorebook_id))
    return Status(204, None)


@companions_router.post(
    "/{uuid:companion_id}/lore/try",
    response=LoreTriedOut,
    operation_id="try_lore",
    summary="Show which entries a text activates, and why; nothing is saved",
)
def try_lore(request: SignedInRequest, companion_id: UUID, body: LoreTryIn) -> Out:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()
    admit_to(request.user, "lore", now)
    explanation = try_text(companion, body.text, now, seed=randbits(32))
    return {
        "fired": [{**_row(entry), "place": entry.place} for entry in explanation.placed],
        "dropped": [_row(entry) for entry in explanation.dropped],
    }


def _find_companion(request: SignedInRequest, body: LorebookIn) -> Companion | None:
    return access.get_companion(request.user, body.companion_id) if body.companion_id else None


def _row(entry: Explained) -> Out:
    ids = {"entry_id": entry.entry_id, "lorebook_id": entry.book_id}
    return {**ids, "name": entry.name, "code": entry.code, "why": entry.why}


def _lorebook_out(book: Lorebook) -> Out:
    composed = editing.compose_book(book)["data"]
    fields = ("id", "companion_id", "name", "is_enabled", "created_at")
    shown = {name: getattr(book, name) for name in fields}
    return {**shown, "entry_count": len(composed["entries"]), "book": composed}
