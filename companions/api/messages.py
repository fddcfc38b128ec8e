"""The messages of a conversation, and the replies to them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from datetime import datetime
from functools import partial
from typing import Annotated
from uuid import UUID

import orjson
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Router, Schema, Status
from ninja.params import functions as P

from accounts.authentication import SignedInRequest
from accounts.idempotency import check_key
from accounts.limits import admission
from companions import access
from companions.api.schemas import (
    ClientId,
    FoundOut,
    IdempotencyKey,
    MessageOut,
    MessagesOut,
    explain_recalled,
)
from companions.branches import operations
from companions.conversations.messages import load_page
from companions.events import describe_failure, render_message, render_saved
from companions.models import Companion, Message, Reply
from companions.pagination import BAD_CURSOR, CursorError, PageQuery
from companions.replies import actions, turn
from companions.replies.following import listening
from companions.replies.lifecycle import Started
from jobs.background import in_thread
from memory.emotion import Emotion

router = Router(tags=["messages"])
replies_router = Router(tags=["replies"])
MESSAGES = "/{uuid:companion_id}/messages"
MESSAGE = MESSAGES + "/{uuid:message_id}"
REPLY = "/{uuid:reply_id}"
STREAM_SECONDS = 3600.0
ESCAPED = {ord(separator): f"\\u{ord(separator):04x}" for separator in "\x85\u2028\u2029"}
"""Unicode's line separators that JSON leaves as they are."""
EVENTS = {  # how the answer to a message comes with `Accept: text/event-stream`
    "responses": {201: {"content": {"text/event-stream": {"schema": {"type": "string"}}}}}
}


Accept = Annotated[str, P.Header(alias="Accept")]
WaitSeconds = Annotated[
    int, P.Query(ge=0, le=300, description="Maximum number of seconds to wait for the answer.")
]


class MessageIn(Schema):
    text: str
    client_id: ClientId | None = None
    quoted: UUID | None = Field(None, description="A message on the same branch that this one quotes.")


class MessageSendIn(MessageIn):
    attachments: list[UUID] = Field(
        [], max_length=20, description="Uploaded attachments that have not been sent yet; at most six."
    )


class RecalledOut(FoundOut):
    message_id: UUID | None


class EmotionOut(Schema):
    at: int = Field(description="The offset in the text, in characters, from which the emotion applies.")
    emotion: Emotion
    intensity: float = Field(description="From 0 to 1.")


class ReplyOut(Schema):
    id: UUID
    state: str
    text: str
    emotions: list[EmotionOut]
    message_id: UUID
    answer_id: UUID | None
    model: str = Field(description="The model that was asked; empty until one has been.")
    is_stand_in: bool = Field(
        description="Whether `model` stands in for the companion's own model, which is unavailable."
    )
    recalled: list[RecalledOut]
    code: str | None
    detail: str | None


class TurnOut(Schema):
    message: MessageOut
    reply: ReplyOut


@router.get(
    MESSAGES, response=MessagesOut, operation_id="list_messages", summary="List the messages, newest first"
)
def list_messages(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> dict[str, object]:
    companion = access.get_companion(request.user, companion_id)
    try:
        before = UUID(query.cursor) if query.cursor else None
    except ValueError as error:
        raise CursorError(*BAD_CURSOR) from error
    messages, following = load_page(companion.conversation, before, query.limit)
    if before and not messages and not Message.objects.filter(companion=companion, pk=before).exists():
        raise CursorError(
            BAD_CURSOR[0], _("The message of this cursor is no longer there. Start again without a cursor.")
        )
    ended = Reply.objects.filter(answer__in=messages).exclude(state=Reply.State.DONE)
    early = {
        reply.answer_id: {"id": reply.pk, "state": reply.state, "code": reply.code or None} for reply in ended
    }
    items = [render_message(message) | {"ended_early": early.get(message.pk)} for message in messages]
    return {"items": items, "next": str(following) if following else None}


@router.post(
    MESSAGES,
    response={201: TurnOut},
    operation_id="send_message",
    summary="Send a message, and wait for the answer or receive it as an event stream",
    openapi_extra=EVENTS,
)
async def send_message(
    request: SignedInRequest,
    companion_id: UUID,
    body: MessageSendIn,
    wait: WaitSeconds = 60,
    key: IdempotencyKey = None,
    accept: Accept = "",
) -> Status[dict[str, object]] | StreamingHttpResponse:
    companion = await in_thread(access.get_companion, request.user, companion_id)
    client_id, begin = body.client_id or check_key(key), turn.start_with(body.attachments, body.quoted)
    say = partial(turn.send, companion, body.text, client_id, timezone.now, begin=begin)
    return await _answer(companion, say, wait, accept)


@router.patch(
    MESSAGE,
    response={201: TurnOut},
    operation_id="say_anew",
    summary=(
        "Send an edited message, with the original's attachments, on a new branch; wait for "
        "the answer or stream it"
    ),
    openapi_extra=EVENTS,
)
async def say_anew(
    request: SignedInRequest,
    companion_id: UUID,
    message_id: UUID,
    body: MessageIn,
    wait: WaitSeconds = 60,
    key: IdempotencyKey = None,
    accept: Accept = "",
) -> Status[dict[str, object]] | StreamingHttpResponse:
    message = await in_thread(access.get_message_anywhere, request.user, companion_id, message_id)
    client_id, begin = body.client_id or check_key(key), operations.say_anew(message, body.quoted)
    say = partial(turn.send, message.companion, body.text, client_id, timezone.now, begin=begin)
    return await _answer(message.companion, say, wait, accept)


@router.post(
    MESSAGE + "/choose",
    response=MessageOut,
    operation_id="choose_message",
    summary="Switch to the branch that continues from this message",
)
def choose_message(request: SignedInRequest, companion_id: UUID, message_id: UUID) -> dict[str, object]:
    message = access.get_message_anywhere(request.user, companion_id, message_id)
    operations.choose_alternative(message, timezone.now())
    return render_message(message)


async def _answer(
    companion: Companion, say: Callable[[], Awaitable[Started]], wait: int, accept: str
) -> Status[dict[str, object]] | StreamingHttpResponse:
    """Send the message and return the turn as it stands after at most `wait` seconds, or as an event stream."""
    if "text/event-stream" in accept:
        await admission.take("streams")
        admission.step_aside()
        return await _stream_turn(companion, say)
    async with listening(companion) as listener:
        started = await say()
        if wait:
            admission.step_aside()
            await listener.wait_for_end(started.reply.pk, wait)
    return Status(201, await in_thread(_turn_out, started.message.pk, started.reply.pk))


def _turn_out(message_id: UUID, reply_id: UUID) -> dict[str, object]:
    """Return the turn; raise Http404 if it was deleted while its sender waited."""
    reply = get_object_or_404(Reply.objects.select_related("companion__user"), pk=reply_id)
    message = get_object_or_404(Message.everywhere, pk=message_id)
    return {"message": render_message(message), "reply": reply_out(reply)}


async def _stream_turn(companion: Companion, say: Callable[[], Awaitable[Started]]) -> StreamingHttpResponse:
    """Send the message and return the reply as server-sent events.

    Errors before the first event are raised, so that the response gets their own status.
    """
    async with AsyncExitStack() as stack:
        listener = await stack.enter_async_context(listening(companion))
        started = await say()
        still_listening = stack.pop_all()  # closed when the stream ends

    async def events() -> AsyncIterator[bytes]:
        try:
            yield _event(orjson.dumps(render_saved(started.message, started.reply)).decode())
            async with asyncio.timeout(STREAM_SECONDS):
                async for frame in listener.frames(started.reply.pk):
                    yield _event(frame)
        finally:
            await asyncio.shield(still_listening.aclose())

    response = StreamingHttpResponse(events(), content_type="text/event-stream; charset=utf-8", status=201)
    response["Cache-Control"] = "no-store"
    response["X-Accel-Buffering"] = "no"
    return response


def _event(frame: str) -> bytes:
    """Return the frame, which is JSON, as an event of three lines, also for clients that split at any line separator.

    An empty frame becomes a comment, which keeps proxies from closing a silent stream.
    """
    if not frame:
        return b":\n\n"
    return f"event: {orjson.loads(frame)['type']}\ndata: {frame.translate(ESCAPED)}\n\n".encode()


def reply_out(reply: Reply) -> dict[str, object]:
    return {
        "id": reply.pk,
        "state": reply.state,
        "text": reply.text,
        "emotions": reply.emotions,
        "message_id": reply.message_id,
        "answer_id": reply.answer_id,
        "model": reply.model,
        "is_stand_in": reply.is_stand_in,
        "recalled": _list_recalled(reply),
        "code": reply.code or None,
        "detail": describe_failure(reply.code) if reply.code else None,
    }


def _list_recalled(reply: Reply) -> list[dict[str, object]]:
    """Return the memories recalled for the reply, best first in each recall, each with a sentence that says why."""
    recalls = reply.recalls.order_by("at").prefetch_related("found__memory")
    found = [hit for recall in recalls for hit in recall.found.all()]
    return explain_recalled(found, reply.companion.user)


@replies_router.get(
    REPLY, response=ReplyOut, operation_id="get_reply", summary="Get the current state of a reply"
)
def get_reply(request: SignedInRequest, reply_id: UUID) -> dict[str, object]:
    return reply_out(access.get_reply(request.user, reply_id))


@replies_router.post(REPLY + "/stop", response=ReplyOut, operation_id="stop_reply", summary="Stop a reply")
async def stop_reply(request: SignedInRequest, reply_id: UUID) -> dict[str, object]:
    await actions.stop(await in_thread(access.get_reply, request.user, reply_id))
    return await in_thread(lambda: reply_out(access.get_reply(request.user, reply_id)))


@replies_router.post(
    REPLY + "/retry", response={201: ReplyOut}, operation_id="retry_reply", summary="Retry a reply"
)
async def retry_reply(request: SignedInRequest, reply_id: UUID) -> Status[dict[str, object]]:
    return await _reply_anew(request, reply_id, actions.retry)


@replies_router.post(
    REPLY + "/continue",
    response={201: ReplyOut},
    operation_id="continue_reply",
    summary="Continue a reply",
)
async def continue_reply(request: SignedInRequest, reply_id: UUID) -> Status[dict[str, object]]:
    return await _reply_anew(request, reply_id, actions.go_on)


async def _reply_anew(
    request: SignedInRequest, reply_id: UUID, make: Callable[[Reply, datetime], Reply]
) -> Status[dict[str, object]]:
    earlier = await in_thread(access.get_reply, request.user, reply_id)
    reply = await in_thread(make, earlier, timezone.now())
    turn.spawn(reply.pk)
    return Status(201, await in_thread(lambda: reply_out(access.get_reply(request.user, reply.pk))))
