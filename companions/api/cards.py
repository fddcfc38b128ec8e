"""Character cards: preview one, create a companion from one, and export a companion's character as one."""

from typing import Literal
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.utils import timezone
from ninja import Field, Form, Query, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from cards.reader import read_card
from companions import access
from companions.api.companions import COMPANION, CompanionOut
from companions.api.schemas import FILE, IdempotencyKey, Text, describe_form
from companions.models import CardUpload, Companion
from companions.transfer import card_import
from companions.transfer.card_export import card_response
from companions.transfer.card_preview import CardPreview, describe
from files.uploads import open_upload

router = Router(tags=["cards"])
transfer_router = Router(tags=["moving"])


class TextOut(Schema):
    name: str
    label: str
    hint: str = Field(description="How the text is used.")
    text: str


class CardEntryOut(Schema):
    title: str
    keys: list[str]
    text: str
    is_constant: bool = Field(description="Whether the entry is in every prompt.")
    is_enabled: bool
    secondary_keys: list[str] = Field(
        description="Secondary keys. If there are any, one of them must match as well, or must not match."
    )


class CardOut(Schema):
    name: str
    form: str
    version: str
    creator: str
    character_version: str
    notes: str
    tags: list[str]
    greetings: list[str]
    texts: list[TextOut]
    hidden: list[TextOut] = Field(
        description="Texts that are part of every prompt but are not shown in the conversation."
    )
    book: str
    entries: list[CardEntryOut]
    remarks: list[str]
    tokens: int = Field(description="Approximate number of the card's tokens that are in every prompt.")


class CardForm(Schema):
    greeting: int = Field(0, ge=0, description="The greeting to begin with; 0 is the first.")
    name: Text = Field("", max_length=80, description="A name to use instead of the card's.")


class CardQuery(Schema):
    spec: Literal["v2", "v3"] = "v3"
    form: Literal["json", "png", "charx"] = Field("json", alias="as")


@router.post(
    "/preview",
    response=CardOut,
    operation_id="preview_card",
    summary="Show everything that a card contains; nothing is created or saved",
    openapi_extra=describe_form(["file"], file=FILE),
)
def preview_card(request: SignedInRequest) -> CardPreview:
    admit_to(request.user, "imports", timezone.now())
    read = read_card(open_upload(request, settings.CARD_BYTES))
    return describe(
        CardUpload(
            user=request.user, content=read.card, form=read.form, version=read.version, remarks=read.remarks
        )
    )


@transfer_router.post(
    "/import/card",
    operation_id="import_card",
    response={201: CompanionOut},
    summary="Create a companion from a character card",
    openapi_extra=describe_form(["file"], file=FILE),
)
def import_card(
    request: SignedInRequest, chosen: Form[CardForm], key: IdempotencyKey = None
) -> Status[Companion]:
    admit_to(request.user, "imports", timezone.now())
    file = open_upload(request, settings.CARD_BYTES)
    read, now = read_card(file), timezone.now()

    upload = card_import.keep_upload(request.user, read, file, now)
    upload_id = upload.pk

    def make() -> UUID:
        return card_import.make_companion(upload, now, name=chosen.name, greeting=chosen.greeting).pk

    body = f"{upload.sha256} {chosen.model_dump_json()}"
    try:
        made_id, _ = create_once(request.user, "import_card", key, body, make)
    finally:
        card_import.drop_upload(upload_id)  # if no companion was made of it
    return Status(201, access.get_companion(request.user, made_id))


@transfer_router.get(
    COMPANION + "/export/card",
    operation_id="export_card",
    summary="Export a companion's character as a card",
    openapi_extra={
        "responses": {
            200: {
                "description": "The card.",
                "content": {"application/json": {}, "image/png": {}, "application/zip": {}},
            }
        }
    },
)
def export_card(request: SignedInRequest, companion_id: UUID, query: Query[CardQuery]) -> HttpResponse:
    companion = access.get_companion(request.user, companion_id)
    return card_response(companion, timezone.now(), spec=query.spec, form=query.form)
