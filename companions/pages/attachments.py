"""Files attached in the composer: added, and removed again."""

import asyncio
from uuid import UUID

from django.http import HttpResponse, JsonResponse
from django.utils import timezone

from accounts.authentication import SignedInRequest
from companions.access import get_attachment, get_companion
from companions.conversations.attachments import add_file, as_json, remove
from companions.pages.refusals import refusals_as_json
from companions.pages.shortcuts import post_view
from files.pictures import MAX_BYTES
from files.uploads import read_name, read_upload
from jobs.background import in_thread


@post_view
@refusals_as_json
async def add(request: SignedInRequest, companion_id: UUID) -> HttpResponse:
    """Store the uploaded file and return it as JSON with status 201."""
    companion = await in_thread(get_companion, request.user, companion_id)
    content = await asyncio.to_thread(read_upload, request, MAX_BYTES)
    kept = await add_file(companion, content, read_name(request), timezone.now())
    return JsonResponse(as_json(kept), status=201)


@post_view
def delete(request: SignedInRequest, companion_id: UUID, attachment_id: UUID) -> HttpResponse:
    """Remove an attachment that is not sent: one that another tab has sent meanwhile stays with its message."""
    attachment = get_attachment(request.user, companion_id, attachment_id)
    if attachment.message_id is None:
        remove(attachment, timezone.now())
    return HttpResponse(status=204)
