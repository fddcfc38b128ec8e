"""Companions: create, change, delete, export and import them."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.exceptions import RequestDataTooBig
from django.core.files.uploadedfile import UploadedFile
from django.http import StreamingHttpResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from ninja import Field, Router, Schema, Status
from pydantic import AfterValidator, StringConstraints

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import access
from companions.api.schemas import FILE, IdempotencyKey, ListOut, Text, describe_form, list_rows
from companions.creation import create
from companions.deletion import delete_companion as delete_for_good
from companions.models import CharacterVersion, Companion
from companions.models.companion import (
    GREETING_CHARACTERS,
    MAX_GREETINGS,
    PERSONA_CHARACTERS,
    TEXT_CHARACTERS,
)
from companions.pagination import PageQuery
from companions.replies.preview import is_crowded
from companions.transfer import digital_life
from companions.transfer.digital_life_export import export_mind
from companions.transfer.digital_life_import import import_mind
from companions.transfer.json_export import export_response
from files.errors import ContentError
from memory.errors import PolicyError
from memory.scoring import CHOICES, by_name
from text.strings import check_storable

router = Router(tags=["companions"])
transfer_router = Router(tags=["moving"])
COMPANION = "/{uuid:companion_id}"


def _check_policy(name: str) -> str:
    try:
        return by_name(name).name
    except PolicyError as error:
        raise ValueError(str(error)) from error


Name = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=80), AfterValidator(check_storable)
]
Policy = Annotated[
    str,
    AfterValidator(_check_policy),
    Field(
        description="The policy that ranks memories during recall.",
        json_schema_extra={"enum": [name for name, _words in CHOICES]},
    ),
]
Parameters = Annotated[
    dict[str, Annotated[float, Field(strict=True, allow_inf_nan=False)]],
    Field(
        description="The policy's parameters that differ from its defaults. Changing the policy resets "
        "them to its defaults."
    ),
]
EXAMPLE_DIALOGUE = (
    "Lines that show how the companion speaks, as in a character card: {{user}}: … and {{char}}: …"
)
SYSTEM_PROMPT = "Instructions placed before the persona, after the rules of this Kith server."
POST_HISTORY = (
    "Instructions placed after the conversation. They replace Kith's own instructions on "
    "manner and length; {{original}} inserts those."
)
DEPTH_PROMPT = "A note in every prompt, placed before the newest `depth_prompt_depth` messages."
DepthRole = Literal["system", "user", "assistant"]
Greetings = Annotated[
    list[Annotated[Text, StringConstraints(max_length=GREETING_CHARACTERS)]],
    Field(max_length=MAX_GREETINGS, description="Alternative greetings with which a conversation may begin."),
]

WITHOUT_DIRECTIONS = "Whether stage directions, such as *smiles*, are removed from what the companion says."


class CompanionIn(Schema):
    name: Name
    nickname: Text = Field(
        "", max_length=80, description="What {{char}} is replaced with; if empty, the name is used."
    )
    persona: Text = Field("", max_length=PERSONA_CHARACTERS)
    personality: Text = Field("", max_length=TEXT_CHARACTERS)
    scenario: Text = Field("", max_length=TEXT_CHARACTERS)
    greeting: Text = Field("", max_length=GREETING_CHARACTERS)
    alternate_greetings: Greetings = []
    example_dialogue: Text = Field("", max_length=TEXT_CHARACTERS, description=EXAMPLE_DIALOGUE)
    system_prompt: Text = Field("", max_length=TEXT_CHARACTERS, description=SYSTEM_PROMPT)
    post_history_instructions: Text = Field("", max_length=TEXT_CHARACTERS, description=POST_HISTORY)
    depth_prompt: Text = Field("", max_length=TEXT_CHARACTERS, description=DEPTH_PROMPT)
    depth_prompt_depth: int = Field(4, ge=0, le=9999)
    depth_prompt_role: DepthRole = "system"
    without_directions: bool = Field(False, description=WITHOUT_DIRECTIONS)
    tint: int = Field(40, ge=0, le=359, description="The companion's colour: a hue in degrees.")


class CharacterPatch(Schema):
    """The texts of a character. Omitted fields stay unchanged."""

    name: Name | None = None
    nickname: Text | None = Field(None, max_length=80)
    persona: Text | None = Field(None, max_length=PERSONA_CHARACTERS)
    personality: Text | None = Field(None, max_length=TEXT_CHARACTERS)
    scenario: Text | None = Field(None, max_length=TEXT_CHARACTERS)
    greeting: Text | None = Field(None, max_length=GREETING_CHARACTERS)
    alternate_greetings: Greetings | None = None
    example_dialogue: Text | None = Field(None, max_length=TEXT_CHARACTERS, description=EXAMPLE_DIALOGUE)
    system_prompt: Text | None = Field(None, max_length=TEXT_CHARACTERS, description=SYSTEM_PROMPT)
    post_history_instructions: Text | None = Field(None, max_length=TEXT_CHARACTERS, description=POST_HISTORY)
    depth_prompt: Text | None = Field(None, max_length=TEXT_CHARACTERS, description=DEPTH_PROMPT)
    depth_prompt_depth: int | None = Field(None, ge=0, le=9999)
    depth_prompt_role: DepthRole | None = None
    without_directions: bool | None = Field(None, description=WITHOUT_DIRECTIONS)


class CompanionPatch(CharacterPatch):
    tint: int | None = Field(None, ge=0, le=359)
    recall_policy: Policy | None = None
    recall_parameters: Parameters | None = None


class CompanionOut(Schema):
    id: UUID
    name: str
    nickname: str
    persona: str
    personality: str
    scenario: str
    greeting: str
    alternate_greetings: list[str]
    example_dialogue: str
    system_prompt: str
    post_history_instructions: str
    depth_prompt: str
    depth_prompt_depth: int
    depth_prompt_role: str
    without_directions: bool
    tint: int
    recall_policy: Policy
    recall_parameters: dict[str, float]
    created_at: datetime
    is_crowded: bool = Field(
        description="Whether the persona, the example dialogue and the user's self-description leave no "
        "room in the context for a conversation."
    )

    @staticmethod
    def resolve_is_crowded(companion: Companion) -> bool:
        return is_crowded(companion)


class CompanionsOut(ListOut[CompanionOut]):
    pass


@router.get(
    "", response=CompanionsOut, operation_id="list_companions", summary="List my companions, newest first"
)
def list_companions(request: SignedInRequest, query: PageQuery) -> dict[str, object]:
    return list_rows(
        Companion.objects.owned_by(request.user).select_related("user", "mind"), "created_at", query
    )


@router.post("", response={201: CompanionOut}, operation_id="create_companion", summary="Create a companion")
def create_companion(
    request: SignedInRequest, body: CompanionIn, key: IdempotencyKey = None
) -> Status[Companion]:
    def make() -> UUID:
        admit_to(request.user, "companions", timezone.now())
        return create(request.user, **body.dict(), now=timezone.now()).pk

    made_id, _ = create_once(request.user, "create_companion", key, request.body, make)
    return Status(201, access.get_companion(request.user, made_id))


@router.get(COMPANION, response=CompanionOut, operation_id="get_companion", summary="Get a companion")
def get_companion(request: SignedInRequest, companion_id: UUID) -> Companion:
    return access.get_companion(request.user, companion_id)


@router.patch(COMPANION, response=CompanionOut, operation_id="change_companion", summary="Change a companion")
def change_companion(request: SignedInRequest, companion_id: UUID, body: CompanionPatch) -> Companion:
    companion = access.get_companion(request.user, companion_id)
    changes = body.dict(exclude_none=True)
    if "recall_policy" in changes or "recall_parameters" in changes:
        policy = changes.setdefault("recall_policy", companion.recall_policy)
        kept = companion.recall_parameters if policy == companion.recall_policy else {}
        by_name(policy, parameters=changes.setdefault("recall_parameters", kept))  # raises if they clash
    for name, value in changes.items():
        setattr(companion, name, value)
    companion.save(update_fields=list(changes), changed_by=CharacterVersion.By.API, now=timezone.now())
    return companion


@router.delete(COMPANION, response={204: None}, operation_id="delete_companion", summary="Delete a companion")
def delete_companion(request: SignedInRequest, companion_id: UUID) -> Status[None]:
    delete_for_good(access.get_companion(request.user, companion_id))
    return Status(204, None)


@transfer_router.get(
    COMPANION + "/export",
    operation_id="export_companion",
    summary="Export everything about a companion as a JSON file",
    openapi_extra={"responses": {200: {"content": {"application/json": {"schema": {"type": "object"}}}}}},
)
def export_companion(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return export_response(access.get_companion(request.user, companion_id))


@transfer_router.get(
    COMPANION + "/export/digital-life",
    operation_id="export_digital_life",
    response=dict[str, Any],
    summary="Export a companion's memory as DigitalLife's eight fields",
)
def export_digital_life(request: SignedInRequest, companion_id: UUID) -> dict[str, Any]:
    return export_mind(access.get_companion(request.user, companion_id))


class MovedOut(Schema):
    companion: CompanionOut
    messages: int
    diary: int
    ignored: list[str] = Field(
        description="Up to twenty fields of the file that are not part of DigitalLife's format; they were "
        "ignored."
    )


@transfer_router.post(
    "/import/digital-life",
    operation_id="import_digital_life",
    response={201: MovedOut},
    summary="Create a companion from DigitalLife's eight fields, sent as JSON or as a file",
    openapi_extra=describe_form([], json={"type": "object"}, file=FILE),
)
def import_digital_life(request: SignedInRequest, key: IdempotencyKey = None) -> Status[dict[str, Any]]:
    body = _read_mind(request)
    mind = digital_life.parse_mind(body)

    def make() -> UUID:
        admit_to(request.user, "imports", timezone.now())
        return import_mind(request.user, mind, timezone.now()).pk

    made_id, _ = create_once(request.user, "import_digital_life", key, body, make)
    moved = {
        "companion": access.get_companion(request.user, made_id),
        "messages": mind.messages,
        "diary": len(mind.longTermMemory),
        "ignored": digital_life.find_ignored(mind),
    }
    return Status(201, moved)


def _read_mind(request: SignedInRequest) -> bytes:
    """Return the form's `file`, or the body if that is no form; raise TooLargeError or, without a file, ContentError."""
    file = request.FILES.get("file")
    if isinstance(file, UploadedFile):
        if (file.size or 0) > digital_life.MAX_BYTES:
            raise digital_life.TooLargeError
        content: bytes = file.read()
        return content
    if request.content_type == "multipart/form-data":
        raise ContentError("no_file", _("Choose a file first."))
    try:
        body = request.body
    except RequestDataTooBig as error:
        raise digital_life.TooLargeError from error
    if len(body) > digital_life.MAX_BYTES:
        raise digital_life.TooLargeError
    return body
