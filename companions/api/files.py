from datetime import datetime
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http.response import HttpResponseBase
from ninja import Field, Router, Schema

from accounts.authentication import SignedInRequest
from companions import access
from companions.api.schemas import ListOut
from companions.pagination import PageQuery, paginate
from files.contents import used_bytes
from files.models import StoredFile
from files.responses import ENDINGS, serve

router = Router(tags=["files"])
FILE = "/{uuid:file_id}"
CONTENT = {
    form: {"schema": {"type": "string", "format": "binary"}}
    for form in (*ENDINGS, "application/octet-stream")
}
BINARY: dict[str, Any] = {
    "responses": {
        200: {"content": CONTENT},
        206: {"description": "The part that the `Range` header requests.", "content": CONTENT},
        304: {"description": "The content matches `If-None-Match`."},
        416: {"description": "The requested range begins after the end of the content."},
    }
}


class FileOut(Schema):
    id: UUID
    kind: str = Field(description=f"One of {', '.join(StoredFile.Kind.values)}.")
    companion_id: UUID | None
    content_type: str
    bytes: int
    sha256: str
    seconds: float | None
    width: int | None
    height: int | None
    created_at: datetime


class FilesOut(ListOut[FileOut]):
    used_bytes: int = Field(description="Total size of all the user's files, in bytes.")
    most_bytes: int = Field(description="Maximum total size, in bytes.")


@router.get("", response=FilesOut, operation_id="list_files", summary="List my stored files, newest first")
def list_files(request: SignedInRequest, query: PageQuery) -> dict[str, Any]:
    items, next_cursor = paginate(StoredFile.objects.owned_by(request.user), "created_at", query)
    used = {"used_bytes": used_bytes(request.user), "most_bytes": settings.FILES_BYTES_EACH}
    return {"items": items, "next": next_cursor, **used}


@router.get(
    FILE, operation_id="get_file", summary="Get a file's content, whole or by `Range`", openapi_extra=BINARY
)
def get_file(request: SignedInRequest, file_id: UUID) -> HttpResponseBase:
    return serve(request, access.get_file(request.user, file_id))


# HEAD mirrors GET by HTTP's rules, so the OpenAPI schema leaves it out.
@router.api_operation(["HEAD"], FILE, operation_id="head_file", include_in_schema=False)
def head_file(request: SignedInRequest, file_id: UUID) -> HttpResponseBase:
    return serve(request, access.get_file(request.user, file_id))
