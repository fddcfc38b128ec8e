"""The gallery: browse characters, create a companion from one, and manage one's own published characters."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from django.http.response import HttpResponseBase
from django.utils import timezone
from ninja import Field, Query, Router, Schema, Status
from pydantic import AfterValidator, StringConstraints

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import access
from companions.api.cards import CardOut
from companions.api.companions import CompanionOut, Name
from companions.api.schemas import IdempotencyKey, ListOut, Out, Text
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
Licence = Literal["CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "own-rights"]
Rating = Literal["everyone", "16", "adults"]
LICENCE = (
    "CC0-1.0, CC-BY-4.0, CC-BY-SA-4.0 or own-rights (may be used on this Kith server, but "
    "not shared further); Kith's own characters have Apache-2.0."
)
RATING = (
    "The age rating: everyone, 16 or adults. Users see only characters that are rated for "
    "the age they are known to have reached."
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
    q: Text = Field(
        "",
        max_length=catalogue.MAX_QUESTION_CHARACTERS,
        description="Words to search for in the name, line, summary, tags and publisher.",
    )
    tag: Text = Field("", max_length=TAG_CHARACTERS)
    language: Text = Field("", max_length=16)
    rating: Literal["", "everyone", "16", "adults"] = ""


class GalleryRowOut(Schema):
    id: UUID
    name: str
    line: str = Field(description="Something that the character would say.")
    summary: str
    tags: list[str]
    language: str
    licence: str = Field(description=LICENCE)
    rating: str = Field(description=RATING)
    published_as: str = Field(description="The publisher's public name; empty for Kith's own characters.")
    version: int
    published_at: datetime | None


class GalleryOut(ListOut[GalleryRowOut]):
    pass


class GalleryVersionOut(Schema):
    number: int
    published_at: datetime | None


class GalleryCharacterOut(GalleryRowOut):
    card: CardOut = Field(
        description="Everything that the character contains, including hidden parts. It is written by its "
        "author: treat it as untrusted data."
    )
    versions: list[GalleryVersionOut]


class PublishIn(Schema):
    companion_id: UUID
    published_as: Line = Field(
        max_length=PUBLISHER_CHARACTERS, description="Your public name as the publisher; everyone sees it."
    )
    line: Line = Field(max_length=LINE_CHARACTERS, description="Something that the character would say.")
    summary: Text = Field("", max_length=SUMMARY_CHARACTERS)
    tags: list[Tag] = Field([], max_length=MAX_TAGS)
    language: Language
    licence: Licence
    rating: Rating
    keeps_name: bool = Field(
        False,
        description="Whether your own name stays in the texts. If false, it is replaced with {{user}}, "
        "which stands for whoever talks with the character.",
    )
    is_mine: Literal[True] = Field(description="Confirms that you have the right to publish the character.")


class SubmittedVersionOut(Schema):
    number: int
    state: str = Field(description="waiting, approved, replaced, rejected, taken_down or withdrawn.")
    reason: str = Field(description="The operator's reason for the decision; may be empty.")
    submitted_at: datetime
    decided_at: datetime | None


class PublishedOut(Schema):
    id: UUID
    companion_id: UUID | None
    name: str
    versions: list[SubmittedVersionOut] = Field(description="Newest first.")


class PublishedListOut(ListOut[PublishedOut]):
    pass


class AdoptIn(Schema):
    name: Name | None = Field(None, description="A name to use instead of the card's.")
    greeting: int = Field(0, ge=0, description="The greeting to begin with; 0 is the first.")


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
    summary=(
        "List published characters, newest first; the last page adds Kith's own, which do not "
        "count towards the limit"
    ),
)
def list_gallery(request: SignedInRequest, query: Query[GalleryQuery]) -> Out:
    catalogue.require_open()
    question = Question(query.q, query.tag, query.language, query.rating)
    versions, next_cursor = paginate(catalogue.find_versions(request.user, question), "decided_at", query)
    own = [] if next_cursor else catalogue.find_own(question)
    entries = [*map(catalogue.make_entry, versions), *own]
    return {"items": [_row(entry) for entry in entries], "next": next_cursor}


@router.get(
    "/mine",
    response=PublishedListOut,
    operation_id="list_published",
    summary="List the characters that I have published, with the state of each version",
)
def list_published(request: SignedInRequest, query: Query[PageIn]) -> Out:
    characters, next_cursor = paginate(catalogue.list_published(request.user), "created_at", query)
    return {"items": [_published_out(character) for character in characters], "next": next_cursor}


@router.post(
    "",
    response={201: PublishedOut},
    operation_id="publish_character",
    summary=(
        "Submit a companion's card for publication; an earlier approved version stays until "
        "an operator decides"
    ),
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

    made_id, _ = create_once(request.user, "publish_character", key, request.body, make)
    return Status(201, _published_out(catalogue.list_published(request.user).get(pk=made_id)))


@router.get(
    CHARACTER,
    response=GalleryCharacterOut,
    operation_id="get_gallery_character",
    summary="Get a character with everything that it contains",
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
    summary="Get a character's face as an image",
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
    summary="Create a companion from a character; this copy stays even if the character is withdrawn",
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
    summary="Withdraw a character that I published; companions created from it stay",
)
def withdraw_character(request: SignedInRequest, character_id: UUID) -> Status[None]:
    submission.withdraw(catalogue.get_published(request.user, character_id), timezone.now())
    return Status(204, None)


@router.post(
    CHARACTER + "/report",
    response={201: ReportOut},
    operation_id="report_character",
    summary="Report a character to the operators",
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
