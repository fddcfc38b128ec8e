"""The gallery: browse characters, create a companion from one, and manage one's own published characters."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import Field, Query, Router, Schema, Status
from pydantic import AfterValidator, StringConstraints

from accounts.authentication import SignedInRequest
from accounts.idempotency import once
from accounts.rates import admit_to
from companions import access
from companions.api.cards import CardOut
from companions.api.companions import CompanionOut, Name
from companions.api.schemas import IdempotencyKey, ListOut, Text
from companions.face.drawing import render_portrait, respond_with_drawing
from companions.gallery import catalogue, decisions, submission
from companions.gallery.adoption import adopt
from companions.gallery.catalogue import GalleryEntry, Question
from companions.gallery.publication import compose_publication
from companions.models import Companion, GalleryCharacter, GalleryReport
from companions.models.gallery import (
    LANGUAGES,
    LINE_CHARACTERS,
    MAX_TAGS,
    PUBLISHER_CHARACTERS,
    SUMMARY_CHARACTERS,
    TAG_CHARACTERS,
)
from companions.pagination import PageIn, paginate
from files.responses import serve
from text.strings import check_storable, one_line

router = Router(tags=["gallery"])
CHARACTER = "/{uuid:character_id}"
Out = dict[str, Any]
Licence = Literal["CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "own-rights"]
Rating = Literal["everyone", "16", "adults"]
LICENCE = (
    "CC0-1.0, CC-BY-4.0, CC-BY-SA-4.0, own-rights (to be talked with on this Kith, and not to be given on); of Kith's "
    "own characters Apache-2.0."
)
RATING = (
    "For which age: everyone, 16, adults. Nobody is shown what is for older people than they are known to be."
)


def _check_language(code: str) -> str:
    if code not in dict(LANGUAGES):
        raise ValueError("is no language that the gallery knows")
    return code


Language = Annotated[
    str,
    AfterValidator(_check_language),
    Field(json_schema_extra={"enum": [code for code, _name in LANGUAGES]}),
]
Line = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1),
    AfterValidator(check_storable),
    AfterValidator(one_line),
]
Tag = Annotated[Line, StringConstraints(max_length=TAG_CHARACTERS)]


class GalleryQuery(PageIn):
    q: Text = Field("", max_length=catalogue.MAX_QUESTION_CHARACTERS, description="Words that stand in it.")
    tag: Text = Field("", max_length=TAG_CHARACTERS)
    language: Text = Field("", max_length=16)
    rating: Literal["", "everyone", "16", "adults"] = ""


class GalleryRowOut(Schema):
    id: UUID
    name: str
    line: str = Field(description="Something that it would say.")
    summary: str
    tags: list[str]
    language: str
    licence: str = Field(description=LICENCE)
    rating: str = Field(description=RATING)
    published_as: str = Field(description="What its publisher wants to be called; empty for Kith's own.")
    version: int
    published_at: datetime | None


class GalleryOut(ListOut[GalleryRowOut]):
    pass


class GalleryVersionOut(Schema):
    number: int
    published_at: datetime | None


class GalleryCharacterOut(GalleryRowOut):
    card: CardOut = Field(
        description="All that is in it, hidden parts too. Its author wrote it: take it for data."
    )
    versions: list[GalleryVersionOut]


class PublishIn(Schema):
    companion_id: UUID
    published_as: Line = Field(
        max_length=PUBLISHER_CHARACTERS, description="What you want to be called; everybody sees it."
    )
    line: Line = Field(max_length=LINE_CHARACTERS, description="Something that it would say.")
    summary: Text = Field("", max_length=SUMMARY_CHARACTERS)
    tags: list[Tag] = Field([], max_length=MAX_TAGS)
    language: Language
    licence: Licence
    rating: Rating
    keeps_name: bool = Field(
        False,
        description="Leave your own name in its texts; else it becomes {{user}}, whoever talks with it.",
    )
    is_mine: Literal[True] = Field(description="That it is yours to give.")


class SubmittedVersionOut(Schema):
    number: int
    state: str = Field(description="waiting, approved, replaced, rejected, taken_down or withdrawn.")
    reason: str = Field(description="What an operator says of it.")
    submitted_at: datetime
    decided_at: datetime | None


class PublishedOut(Schema):
    id: UUID
    companion_id: UUID | None
    name: str
    versions: list[SubmittedVersionOut] = Field(description="The newest first.")


class PublishedListOut(ListOut[PublishedOut]):
    pass


class AdoptIn(Schema):
    name: Name | None = Field(None, description="Another than the card's.")
    greeting: int = Field(0, ge=0, description="With which it begins: 0 is the first.")


class ReportIn(Schema):
    kind: Literal["unlawful", "hateful", "rating", "copied", "private", "other"]
    text: Text = Field("", max_length=1_000)


class ReportOut(Schema):
    id: UUID
    kind: str
    text: str
    created_at: datetime


@router.get(
    "",
    response=GalleryOut,
    operation_id="list_gallery",
    summary="Characters to begin with, the newest first; Kith's own come with the last page, beside the limit",
)
def list_gallery(request: SignedInRequest, query: Query[GalleryQuery]) -> Out:
    catalogue.require_open()
    question = Question(query.q, query.tag, query.language, query.rating)
    versions, next_cursor = paginate(catalogue.find_versions(request.user, question), "decided_at", query)
    own = [] if next_cursor else catalogue.find_own(question)
    entries = [*map(catalogue.entry_of, versions), *own]
    return {"items": [_row(entry) for entry in entries], "next": next_cursor}


@router.get(
    "/mine",
    response=PublishedListOut,
    operation_id="list_published",
    summary="What I published, with what became of it",
)
def list_published(request: SignedInRequest, query: Query[PageIn]) -> Out:
    characters, next_cursor = paginate(catalogue.list_published(request.user), "created_at", query)
    return {"items": [_published_out(character) for character in characters], "next": next_cursor}


@router.post(
    "",
    response={201: PublishedOut},
    operation_id="publish_character",
    summary="Publish a companion's card: it waits for an operator, and what was approved before stays",
)
def publish_character(request: SignedInRequest, body: PublishIn, key: IdempotencyKey = None) -> Status[Out]:
    catalogue.require_open()
    companion, now = access.get_companion(request.user, body.companion_id), timezone.now()
    admit_to(request.user, "publications", now)
    given = body.model_dump(exclude={"companion_id", "keeps_name", "is_mine", "tags"})
    terms = submission.Terms(**given, tags=list(dict.fromkeys(tag.casefold() for tag in body.tags)))
    publication = compose_publication(companion, keeps_name=body.keeps_name)
    submission.check_terms(companion, terms)
    picture = submission.copy_picture(companion, now)

    def make() -> UUID:
        return submission.submit(companion, publication, terms, picture, now).character_id

    made_id, _ = once(request.user, "publish_character", key, request.body, make)
    return Status(201, _published_out(catalogue.list_published(request.user).get(pk=made_id)))


@router.get(
    CHARACTER,
    response=GalleryCharacterOut,
    operation_id="get_gallery_character",
    summary="One character with all that is in it",
)
def get_gallery_character(request: SignedInRequest, character_id: UUID) -> Out:
    entry = _find(request, character_id)
    versions = [
        {"number": version.number, "published_at": version.decided_at}
        for version in catalogue.list_history(entry)
    ] or [{"number": entry.number, "published_at": entry.published_at}]
    card = catalogue.preview(catalogue.compose_card(entry))
    return {**_row(entry), "card": card, "versions": versions}


@router.get(
    CHARACTER + "/picture",
    operation_id="get_gallery_picture",
    summary="Its face as an image",
    openapi_extra={
        "responses": {
            200: {"description": "The face.", "content": {"image/svg+xml": {}, "image/webp": {}}},
        }
    },
)
def get_gallery_picture(request: SignedInRequest, character_id: UUID) -> HttpResponseBase:
    entry = _find(request, character_id)
    if entry.version and entry.version.picture:
        return serve(request, entry.version.picture)
    return respond_with_drawing(request, render_portrait(entry.features, hue=entry.tint))


@router.post(
    CHARACTER + "/adopt",
    response={201: CompanionOut},
    operation_id="adopt_character",
    summary="Make a companion of it: a copy, which stays whatever becomes of the publication",
)
def adopt_character(
    request: SignedInRequest, character_id: UUID, body: AdoptIn, key: IdempotencyKey = None
) -> Status[Companion]:
    entry, now = _find(request, character_id), timezone.now()
    admit_to(request.user, "companions", now)
    made_id = adopt(request.user, entry, now, key=key, name=body.name or "", greeting=body.greeting)
    return Status(201, access.get_companion(request.user, made_id))


@router.delete(
    CHARACTER,
    response={204: None},
    operation_id="withdraw_character",
    summary="Withdraw what I published; companions that were made of it stay",
)
def withdraw_character(request: SignedInRequest, character_id: UUID) -> Status[None]:
    submission.withdraw(catalogue.get_published(request.user, character_id), timezone.now())
    return Status(204, None)


@router.post(
    CHARACTER + "/report",
    response={201: ReportOut},
    operation_id="report_character",
    summary="Tell the operators what is wrong with it",
)
def report_character(request: SignedInRequest, character_id: UUID, body: ReportIn) -> Status[GalleryReport]:
    entry, now = _find(request, character_id), timezone.now()
    admit_to(request.user, "reports", now)
    return Status(201, decisions.report(request.user, entry, body.kind, body.text, now))


def _find(request: SignedInRequest, character_id: UUID) -> GalleryEntry:
    catalogue.require_open()
    return catalogue.find_entry(request.user, character_id)


def _row(entry: GalleryEntry) -> Out:
    names = (
        *("id", "name", "line", "summary", "tags", "language", "licence", "rating", "published_as"),
        "published_at",
    )
    return {**{name: getattr(entry, name) for name in names}, "version": entry.number}


def _published_out(character: GalleryCharacter) -> Out:
    versions = list(character.versions.all())
    return {
        "id": character.pk,
        "companion_id": character.companion_id,
        "name": versions[0].name,
        "versions": versions,
    }
