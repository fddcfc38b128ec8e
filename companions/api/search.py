"""Finding messages: full-text search, the messages around one, and bookmarks."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from ninja import Field, Router, Schema, Status
from ninja.params import functions as P

from accounts.authentication import SignedInRequest
from companions import access
from companions.api.messages import MESSAGE, MESSAGES
from companions.api.schemas import ListOut, MessageOut, MessagesOut, list_rows
from companions.conversations import bookmarks, search
from companions.conversations.messages import load_page, load_page_after
from companions.events import render_message
from companions.pagination import PageQuery

router = Router(tags=["messages"])
BOOKMARK = MESSAGE + "/bookmark"
SearchText = Annotated[
    str,
    P.Query(
        description="Words or beginnings of words, phrases in quotation marks, or emoji; at most 200 "
        "characters."
    ),
]
AroundLimit = Annotated[
    int, P.Query(ge=1, le=100, description="Maximum number of messages to return on each side.")
]


class AroundOut(Schema):
    """The messages around a given one, newest first."""

    items: list[MessageOut]
    next: str | None = Field(
        description="The cursor with which `list_messages` returns the earlier messages; null if there "
        "are none."
    )
    later: UUID | None = Field(
        description="The message around which to ask for the later messages; null if there are none."
    )


class BookmarkOut(Schema):
    id: UUID
    message: MessageOut
    made_at: datetime

    @staticmethod
    def resolve_message(bookmark: Any) -> dict[str, Any]:
        return render_message(bookmark.message)


class BookmarksOut(ListOut[BookmarkOut]):
    pass


@router.get(
    MESSAGES + "/search",
    response=MessagesOut,
    operation_id="search_messages",
    summary="List the messages that contain all of these words, newest first",
)
def search_messages(
    request: SignedInRequest, companion_id: UUID, q: SearchText, query: PageQuery
) -> dict[str, object]:
    companion = access.get_companion(request.user, companion_id)
    messages, following = search.search(companion, search.read_query(companion.pk, q), query)
    return {"items": [render_message(message) for message in messages], "next": following}


@router.get(
    MESSAGE + "/around",
    response=AroundOut,
    operation_id="list_messages_around",
    summary="Get a message with those before and after it",
)
def list_messages_around(
    request: SignedInRequest, companion_id: UUID, message_id: UUID, limit: AroundLimit = 25
) -> dict[str, object]:
    message = access.get_message(request.user, companion_id, message_id)
    before, earlier = load_page(message.companion.conversation, message.pk, limit)
    after, later = load_page_after(message.companion.conversation, message.pk, limit)
    items = [render_message(said) for said in [*after[::-1], message, *before]]
    return {"items": items, "next": str(earlier) if earlier else None, "later": later}


@router.get(
    "/{uuid:companion_id}/bookmarks",
    response=BookmarksOut,
    operation_id="list_bookmarks",
    summary="List the bookmarks, newest first",
)
def list_bookmarks(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> dict[str, object]:
    companion = access.get_companion(request.user, companion_id)
    return list_rows(bookmarks.list_bookmarks(companion), "made_at", query)


@router.put(BOOKMARK, response=BookmarkOut, operation_id="set_bookmark", summary="Bookmark a message")
def set_bookmark(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> Any:
    message = access.get_message(request.user, companion_id, message_id)
    return bookmarks.set_bookmark(message, timezone.now())


@router.delete(
    BOOKMARK, response={204: None}, operation_id="remove_bookmark", summary="Remove a message's bookmark"
)
def remove_bookmark(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> Status[None]:
    bookmarks.remove_bookmark(access.get_message(request.user, companion_id, message_id))
    return Status(204, None)
