from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Field, Router, Schema

from companions.api.cursor import PageQuery, page
from companions.api.finding import person
from files.keeping import used_bytes
from files.models import StoredFile
from files.serving import served

router = Router(tags=["files"])
BINARY: dict[str, Any] = {
    "responses": {
        200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}},
        206: {"description": "The part that `Range` asks for."},
        304: {"description": "`If-None-Match` names what is there."},
        416: {"description": "The content ends before that part."},
    }
}


class FileOut(Schema):
    id: UUID
    kind: str = Field(description="speech, recording, reference or picture.")
    companion_id: UUID | None
    content_type: str
    bytes: int
    sha256: str
    seconds: float | None
    width: int | None
    height: int | None
    created_at: datetime


class FilesOut(Schema):
    items: list[FileOut]
    next: str | None
    used_bytes: int = Field(description="What all of them take.")
    most_bytes: int = Field(description="What they may take.")


@router.get("", response=FilesOut, operation_id="list_files", summary="What is stored, newest first")
def list_files(request: HttpRequest, asked: PageQuery) -> dict[str, Any]:
    items, following = page(StoredFile.objects.owned_by(person(request)), "created_at", asked)
    used = {"used_bytes": used_bytes(person(request)), "most_bytes": settings.FILES_BYTES_EACH}
    return {"items": items, "next": following, **used}


@router.get(
    "/{uuid:file_id}",
    operation_id="get_file",
    summary="Its content, whole or by `Range`",
    openapi_extra=BINARY,
)
def get_file(request: HttpRequest, file_id: UUID) -> HttpResponseBase:
    return served(request, my_file(request, file_id))


# It says of GET what HTTP says of every GET, so the contract does not name it beside that.
@router.api_operation(["HEAD"], "/{uuid:file_id}", operation_id="head_file", include_in_schema=False)
def head_file(request: HttpRequest, file_id: UUID) -> HttpResponseBase:
    return served(request, my_file(request, file_id))


def my_file(request: HttpRequest, file_id: UUID) -> StoredFile:
    return get_object_or_404(StoredFile.objects.owned_by(person(request)), pk=file_id)
