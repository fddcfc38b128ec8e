import asyncio
from datetime import datetime
from uuid import UUID

from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from companions import access
from companions.api.schemas import FILE, ListOut, Out, describe_form
from companions.conversations.attachments import add_file, as_json, remove
from companions.models import Attachment
from companions.pagination import PageQuery, paginate
from files.pictures import MAX_BYTES
from files.uploads import read_name, read_upload
from jobs.background import in_thread

router = Router(tags=["messages"])
ATTACHMENTS = "/{uuid:companion_id}/attachments"
PICTURE = describe_form(
    ["file"],
    file={
        **FILE,
        "description": (
            "A PNG, JPEG, WebP or GIF of at most 10 MB and 40 million pixels; or a plain text or "
            "Markdown file, recognised by its name, which becomes a document."
        ),
    },
)


class AttachmentOut(Schema):
    id: UUID
    name: str
    message_id: UUID | None = Field(
        description="The message that the attachment was sent with; null until it is sent."
    )
    file_id: UUID | None = Field(
        description="The picture, re-encoded as WebP; its content is at /files/{file_id}."
    )
    document_id: UUID | None = Field(description="The document that a text file became.")
    created_at: datetime


class AttachmentsOut(ListOut[AttachmentOut]):
    pass


@router.post(
    ATTACHMENTS,
    response={201: AttachmentOut},
    operation_id="add_attachment",
    summary="Upload a picture or text to send with a message; if not sent, it is deleted after a day",
    openapi_extra=PICTURE,
)
async def add_attachment(request: SignedInRequest, companion_id: UUID) -> Status[Out]:
    companion = await in_thread(access.get_companion, request.user, companion_id)
    content = await asyncio.to_thread(read_upload, request, MAX_BYTES)
    return Status(201, as_json(await add_file(companion, content, read_name(request), timezone.now())))


@router.get(
    ATTACHMENTS,
    response=AttachmentsOut,
    operation_id="list_attachments",
    summary="List the attachments, sent or not, newest first",
)
def list_attachments(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    mine = Attachment.objects.filter(companion=access.get_companion(request.user, companion_id))
    items, following = paginate(mine, "created_at", query)
    return {"items": [as_json(attachment) for attachment in items], "next": following}


@router.delete(
    ATTACHMENTS + "/{uuid:attachment_id}",
    response={204: None},
    operation_id="delete_attachment",
    summary="Permanently delete a picture, or a text that was not sent; the message stays",
)
def delete_attachment(request: SignedInRequest, companion_id: UUID, attachment_id: UUID) -> Status[None]:
    remove(access.get_attachment(request.user, companion_id, attachment_id), timezone.now())
    return Status(204, None)
