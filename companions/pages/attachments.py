"""Files beside the composer, until they are sent with a message."""

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
    """201 with the file that was kept."""
    companion = await in_thread(get_companion, request.user, companion_id)
    content = await asyncio.to_thread(read_upload, request, MAX_BYTES)
    kept = await add_file(companion, content, read_name(request), timezone.now())
    return JsonResponse(as_json(kept), status=201)


@post_view
def delete(request: SignedInRequest, companion_id: UUID, attachment_id: UUID) -> HttpResponse:
    """Take it back; a message that it came with stays, as text."""
    remove(get_attachment(request.user, companion_id, attachment_id), timezone.now())
    return HttpResponse(status=204)
