from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Router, Schema, Status
from ninja.errors import HttpError
from ninja.errors import ValidationError as InvalidRequestError
from pydantic import StringConstraints, ValidationError

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.usage import admit_work
from companions import access
from companions.api.schemas import FILE, FilledText, IdempotencyKey, ListOut, Out, describe_form, list_rows
from companions.memories import editing
from companions.pagination import BAD_CURSOR, CursorError, PageQuery
from files.errors import ContentError
from memory.documents.gists import state_of, with_progress
from memory.documents.intake import read_file
from memory.documents.lookup import MAX_PAGES, Question, look_up
from memory.embedding import embed_cue
from memory.models import Document, Page
from text.json_size import check_json

router = Router(tags=["documents"])
DOCUMENTS = "/{uuid:companion_id}/documents"
DOCUMENT = DOCUMENTS + "/{uuid:document_id}"


class DocumentIn(Schema):
    title: str
    text: str = Field(
        description="At most 2,000,000 characters. The text is split into pages of 280 to 600 words."
    )


class DocumentOut(Schema):
    id: UUID
    title: str
    characters: int
    given_at: datetime
    state: str = Field(description="waiting, running, done or failed.")
    done: int = Field(description="Number of pages that have a gist (a short summary).")
    total: int = Field(description="Number of pages.")
    error: str | None

    @staticmethod
    def resolve_state(document: Any) -> str:
        return state_of(document, document.done, document.total)

    @staticmethod
    def resolve_error(document: Document) -> str | None:
        return document.error or None


class DocumentsOut(ListOut[DocumentOut]):
    pass


class PageOut(Schema):
    number: int
    text: str
    gist: str = Field(description="The page's gist (a short summary); empty until a model has written it.")
    is_deleted: bool = Field(description="Whether the page's gist was deleted, and the text with it.")


class PagesOut(ListOut[PageOut]):
    pass


class LookUpIn(Schema):
    question: Annotated[FilledText, StringConstraints(max_length=4_000)]
    limit: int = Field(MAX_PAGES, ge=1, le=MAX_PAGES)


class SaidOut(Schema):
    message_id: UUID
    speaker: str
    text: str
    happened_at: datetime


class LookedUpOut(Schema):
    kind: str = Field(description="gist (a page of a document) or diary (the messages of a session).")
    title: str
    gist: str
    score: float
    document_id: UUID | None
    number: int | None
    text: str | None = Field(description="The page's text; null for a session.")
    said: list[SaidOut]


class LookedUpsOut(Schema):
    results: list[LookedUpOut]


DOCUMENT_BODY = describe_form(
    ["file"],
    json=DocumentIn.model_json_schema(),
    title={"type": "string", "description": "The document's title; if omitted, the file's name."},
    file={**FILE, "description": "Plain text or Markdown."},
)


@router.post(
    DOCUMENTS,
    response={201: DocumentOut},
    operation_id="give_document",
    summary=(
        "Give a companion a document, as JSON or as a plain text or Markdown file; its gists "
        "are written afterwards"
    ),
    openapi_extra=DOCUMENT_BODY,
)
def give_document(
    request: SignedInRequest, companion_id: UUID, key: IdempotencyKey = None
) -> Status[Document]:
    companion = access.get_companion(request.user, companion_id)
    title, text = read_document(request)

    def make() -> UUID:
        admit_work(request.user, "documents", timezone.now())
        return editing.give_document(companion, title, text, timezone.now()).pk

    body = orjson.dumps([title, text]) if key else b""
    made_id, _is_new = create_once(request.user, f"give_document {companion_id}", key, body, make)
    return Status(201, access.get_document(request.user, companion_id, made_id))


def read_document(request: SignedInRequest) -> tuple[str, str]:
    """Return title and text of what was sent.

    Raise ValidationError, ContentError, DocumentError, TooManyValuesError, or RequestDataTooBig before anything is read.
    """
    if int(request.headers.get("Content-Length") or 0) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
        raise RequestDataTooBig
    if request.content_type != "multipart/form-data":
        try:
            sent = DocumentIn.model_validate(orjson.loads(check_json(request.body)))
        except orjson.JSONDecodeError as error:
            raise HttpError(400, "The body is no JSON.") from error
        except ValidationError as error:
            wrong = [{**problem, "loc": ("body", *problem["loc"])} for problem in error.errors()]
            raise InvalidRequestError(wrong) from error
        return sent.title, sent.text
    file = request.FILES.get("file")
    if file is None:
        raise ContentError("no_file", _("Choose a file first."))
    title = request.POST.get("title") or (file.name or "").rpartition(".")[0] or file.name or ""
    return title, read_file(file.chunks())


@router.get(
    DOCUMENTS,
    response=DocumentsOut,
    operation_id="list_documents",
    summary="List a companion's documents, newest first",
)
def list_documents(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> Out:
    mine = Document.objects.filter(companion=access.get_companion(request.user, companion_id))
    return list_rows(with_progress(mine), "given_at", query)


@router.get(
    DOCUMENT,
    response=DocumentOut,
    operation_id="get_document",
    summary="Get a document, and how many of its pages have a gist",
)
def get_document(request: SignedInRequest, companion_id: UUID, document_id: UUID) -> Document:
    return access.get_document(request.user, companion_id, document_id)


@router.get(
    DOCUMENT + "/pages",
    response=PagesOut,
    operation_id="list_pages",
    summary="List a document's pages in order, with their gists",
)
def list_pages(request: SignedInRequest, companion_id: UUID, document_id: UUID, query: PageQuery) -> Out:
    document = access.get_document(request.user, companion_id, document_id)
    cursor = query.cursor or "0"
    if not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= 9):
        raise CursorError(*BAD_CURSOR)
    following = Page.objects.filter(companion_id=companion_id, document=document, number__gt=int(cursor))
    found = list(following.order_by("number")[: query.limit + 1])
    pages = found[: query.limit]
    return {"items": pages, "next": str(pages[-1].number) if len(found) > len(pages) else None}


@router.delete(
    DOCUMENT,
    response={204: None},
    operation_id="delete_document",
    summary="Delete a document, its pages and everything remembered from them",
)
def delete_document(request: SignedInRequest, companion_id: UUID, document_id: UUID) -> Status[None]:
    editing.delete_document(access.get_document(request.user, companion_id, document_id), timezone.now())
    return Status(204, None)


@router.post(
    "/{uuid:companion_id}/look-up",
    response=LookedUpsOut,
    operation_id="look_up",
    summary="Find the pages and past sessions that answer a question, by their gists",
)
def look_up_originals(request: SignedInRequest, companion_id: UUID, body: LookUpIn) -> Out:
    companion = access.get_companion(request.user, companion_id)
    admit_work(companion.user, "look_ups", timezone.now())
    asked = Question(
        text=body.question,
        now=timezone.now(),
        zone=companion.user.zone,
        vector=embed_cue(body.question, companion.payer, companion.names),
        names=companion.names,
        with_private=True,
    )
    results = [
        {
            "kind": original.memory.kind,
            "title": original.title,
            "gist": original.memory.text,
            "score": original.score,
            "document_id": original.page.document_id if original.page else None,
            "number": original.page.number if original.page else None,
            "text": original.page.text if original.page else None,
            "said": original.said,
        }
        for original in look_up(companion.pk, asked, body.limit)
    ]
    return {"results": results}
