from uuid import UUID

from django.utils import timezone
from ninja import Router, Status

from accounts.authentication import SignedInRequest
from companions import access
from companions.api.schemas import ReplyOut
from companions.models import Reply
from companions.replies import actions, frames
from companions.replies.frames import describe_failure
from companions.replies.turn import spawn
from database.threads import in_thread

router = Router(tags=["replies"])


def reply_out(reply: Reply) -> dict[str, object]:
    return {
        "id": reply.pk,
        "state": reply.state,
        "text": reply.text,
        "emotions": reply.emotions,
        "message_id": reply.message_id,
        "answer_id": reply.answer_id,
        "recalled": frames.recalled_for(reply),
        "code": reply.code or None,
        "detail": describe_failure(reply.code) if reply.code else None,
    }


@router.get("/{uuid:reply_id}", response=ReplyOut, operation_id="get_reply", summary="A reply as it stands")
def get_reply(request: SignedInRequest, reply_id: UUID) -> dict[str, object]:
    return reply_out(access.get_reply(request.user, reply_id))


@router.post("/{uuid:reply_id}/stop", response=ReplyOut, operation_id="stop_reply", summary="Stop it")
async def stop_reply(request: SignedInRequest, reply_id: UUID) -> dict[str, object]:
    await actions.stop(await in_thread(access.get_reply, request.user, reply_id))
    return await in_thread(lambda: reply_out(access.get_reply(request.user, reply_id)))


@router.post(
    "/{uuid:reply_id}/retry", response={201: ReplyOut}, operation_id="retry_reply", summary="Make it again"
)
async def retry_reply(request: SignedInRequest, reply_id: UUID) -> Status[dict[str, object]]:
    return await _made_anew(
        request,
        await in_thread(
            actions.retry, await in_thread(access.get_reply, request.user, reply_id), timezone.now()
        ),
    )


@router.post(
    "/{uuid:reply_id}/continue",
    response={201: ReplyOut},
    operation_id="continue_reply",
    summary="Have it go on",
)
async def continue_reply(request: SignedInRequest, reply_id: UUID) -> Status[dict[str, object]]:
    return await _made_anew(
        request,
        await in_thread(
            actions.go_on, await in_thread(access.get_reply, request.user, reply_id), timezone.now()
        ),
    )


async def _made_anew(request: SignedInRequest, reply: Reply) -> Status[dict[str, object]]:
    spawn(reply.pk)
    return Status(201, await in_thread(lambda: reply_out(access.get_reply(request.user, reply.pk))))
