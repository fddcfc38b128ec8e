"""Threads, i.e. what is open between companion and user: list, settle, let be and reopen them."""

from datetime import date, datetime
from uuid import UUID

from django.utils import timezone
from ninja import Field, Query, Router, Schema

from accounts.authentication import SignedInRequest
from companions.access import get_companion, get_thread
from companions.api.schemas import ListOut, Out, list_rows
from companions.memories import threads
from companions.pagination import PageQuery
from memory.models import Thread

router = Router(tags=["threads"])
THREADS = "/{uuid:companion_id}/threads"


class ThreadOut(Schema):
    id: UUID
    memory_id: UUID = Field(
        description="The memory that the thread is about. Deleting it deletes the thread."
    )
    kind: str = Field(alias="memory.kind", description="The memory's kind: promise, event, fact, …")
    text: str = Field(alias="memory.text")
    due_on: date | None
    state: Thread.State
    opened_at: datetime
    closed_at: datetime | None
    settled_by: UUID | None = Field(
        alias="settled_by_id", description="The message that settled the thread; null if none did."
    )


class ThreadsOut(ListOut[ThreadOut]):
    pass


class OfStateIn(Schema):
    state: Thread.State | None = None


class ThreadPatch(Schema):
    state: Thread.State


@router.get(
    THREADS,
    response=ThreadsOut,
    operation_id="list_threads",
    summary="List the threads between the companion and its user, newest first",
)
def list_threads(
    request: SignedInRequest, companion_id: UUID, query: PageQuery, which: Query[OfStateIn]
) -> Out:
    rows = threads.load_threads(get_companion(request.user, companion_id))
    return list_rows(rows.filter(state=which.state) if which.state else rows, "opened_at", query)


@router.patch(
    THREADS + "/{uuid:thread_id}",
    response=ThreadOut,
    operation_id="change_thread",
    summary="Settle, drop or reopen a thread",
)
def change_thread(request: SignedInRequest, companion_id: UUID, thread_id: UUID, body: ThreadPatch) -> Thread:
    thread = get_thread(request.user, companion_id, thread_id)
    threads.set_state(thread, body.state, timezone.now())
    return thread
