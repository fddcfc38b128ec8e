"""Pasts: preview and import earlier talk from a file, control the nightly learning from it, and undo an import."""

from datetime import datetime
from hashlib import sha256
from typing import Literal
from uuid import UUID

from django.utils import timezone
from ninja import Field, Form, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import access
from companions.api.jobs import JobOut, job_out
from companions.api.schemas import FILE, IdempotencyKey, ListOut, Text, describe_form, list_rows
from companions.models import PastImport
from companions.models.past import PATTERN_CHARACTERS, SPEAKER_CHARACTERS
from companions.pagination import PageQuery
from companions.pasts import imports, undo, uploads
from companions.pasts.job_progress import measure_progress
from companions.pasts.learning import (
    MAX_NIGHTLY,
    MIN_NIGHTLY,
    NIGHTLY_TOKENS,
    LearningProgress,
    RestCost,
    change_learning,
    count_progress,
    estimate_rest,
)
from companions.pasts.plan import Choice
from companions.pasts.preview import PastPreview, describe
from files.uploads import read_upload
from pasts.past import MAX_BYTES, FormName

router = Router(tags=["pasts"])
companions_router = Router(tags=["pasts"])
COMPANION = "/{uuid:companion_id}"
IMPORT = COMPANION + "/imports/{uuid:import_id}"


class SpeakerOut(Schema):
    name: str
    messages: int
    is_person: bool = Field(description="Whether this speaker is the user; if false, it is a companion.")


class CostOut(Schema):
    sessions: int
    tokens: int = Field(description="Approximate number of tokens that learning from all of it takes.")


class PastPreviewOut(Schema):
    form: str
    conversations: int
    messages: int
    alternatives: int = Field(
        description="How many of the messages are alternatives that were not chosen, such as swipes."
    )
    branches: int
    duplicates: int = Field(
        description="Number of messages that the companion has already; they are skipped."
    )
    first_at: datetime | None = Field(description="null if the file has no dates; Kith then makes them up.")
    last_at: datetime | None
    name: str = Field(description="The name that a companion created from the file would get.")
    speakers: list[SpeakerOut]
    cost: CostOut
    nights: int = Field(description="Number of nights that learning from it takes.")
    remarks: list[str]


class ReadForm(Schema):
    format: Literal["", FormName] = Field(
        "", description="The program that wrote the file; detected if empty."
    )
    person: Text = Field(
        "", max_length=SPEAKER_CHARACTERS, description="The name of the speaker who is the user."
    )
    pattern: Text = Field(
        "",
        max_length=PATTERN_CHARACTERS,
        description="For plain text, the pattern of a line, such as `[{date}] {name}: {text}`.",
    )


class PreviewForm(ReadForm):
    companion: UUID | None = Field(
        None, description="The companion that may already have some of the messages."
    )
    nightly_tokens: int = Field(NIGHTLY_TOKENS, ge=MIN_NIGHTLY, le=MAX_NIGHTLY)


class PastForm(ReadForm):
    learn: bool = Field(False, description="Whether to learn from it as well, over several nights.")
    nightly_tokens: int = Field(NIGHTLY_TOKENS, ge=MIN_NIGHTLY, le=MAX_NIGHTLY)


class LearntOut(Schema):
    done: int
    failed: int
    total: int


class RestOut(Schema):
    tokens: int = Field(description="Approximate number of tokens that learning from all of it takes.")
    tokens_left: int = Field(description="Approximate number of those tokens that are still to be spent.")
    nights_left: int = Field(description="Number of nights that learning from the rest takes.")


class ImportOut(Schema):
    id: UUID
    job_id: UUID
    form: str
    titles: list[str]
    state: str = Field(description="waiting, running, done (all can be recalled), failed or undoing.")
    messages: int = Field(alias="messages_count")
    duplicates: int = Field(alias="skipped_count")
    first_at: datetime | None = Field(description="null if the file had no dates; Kith then made them up.")
    last_at: datetime | None
    learning: str = Field(description="none, running, paused or done.")
    learnt: LearntOut = Field(
        description="How many sessions have been learnt from, how many could not be, and how many there are."
    )
    nightly_tokens: int
    tokens_spent: int
    cost: RestOut
    created_at: datetime

    @staticmethod
    def resolve_state(past: PastImport) -> str:
        return "undoing" if past.state == PastImport.State.UNDOING else measure_progress(past.job)[0]

    @staticmethod
    def resolve_learnt(past: PastImport) -> LearningProgress:
        return count_progress(past)

    @staticmethod
    def resolve_cost(past: PastImport) -> RestCost:
        return estimate_rest(past)


class ImportsOut(ListOut[ImportOut]):
    pass


class ImportPatch(Schema):
    learning: Literal["running", "paused"] | None = None
    nightly_tokens: int | None = Field(None, ge=MIN_NIGHTLY, le=MAX_NIGHTLY)


@router.post(
    "/preview",
    response=PastPreviewOut,
    operation_id="preview_past",
    summary="Preview the import of a chat history file; nothing is created or saved",
    openapi_extra=describe_form(["file"], file=FILE),
)
def preview_past(request: SignedInRequest, chosen: Form[PreviewForm]) -> PastPreview:
    admit_to(request.user, "imports", timezone.now())
    found = access.get_companion(request.user, chosen.companion) if chosen.companion else None
    content = read_upload(request, MAX_BYTES)
    read = uploads.read_content_of(request.user, content, form=chosen.format, pattern=chosen.pattern)
    choice = Choice(person=chosen.person)
    return describe(read, found, choice, timezone.now(), chosen.nightly_tokens)


@companions_router.post(
    COMPANION + "/import/past",
    response={202: JobOut},
    operation_id="import_past",
    summary="Import a chat history file with its own dates; when the job is done, it can be recalled",
    openapi_extra=describe_form(["file"], file=FILE),
)
def import_past(
    request: SignedInRequest, companion_id: UUID, chosen: Form[PastForm], key: IdempotencyKey = None
) -> Status[dict[str, object]]:
    companion, now = access.get_companion(request.user, companion_id), timezone.now()
    admit_to(request.user, "imports", now)
    content = read_upload(request, MAX_BYTES)
    wanted = imports.Wanted(
        choice=Choice(person=chosen.person),
        pattern=chosen.pattern,
        nightly_tokens=chosen.nightly_tokens if chosen.learn else None,
    )
    read = uploads.read_content_of(request.user, content, form=chosen.format, pattern=chosen.pattern)
    upload = uploads.keep_upload(request.user, content, read.form, "", now)

    def make() -> UUID:
        return imports.begin(companion, upload, read, wanted, now).job_id

    body = f"{sha256(content).hexdigest()} {chosen.model_dump_json()}"
    try:
        job_id, _ = create_once(request.user, f"import_past {companion_id}", key, body, make)
    finally:
        uploads.drop_upload(upload.pk)  # if no import uses it
    return Status(202, job_out(access.get_job(request.user, companion_id, job_id)))


@companions_router.get(
    COMPANION + "/imports",
    response=ImportsOut,
    operation_id="list_imports",
    summary="List the imported chat histories, newest first",
)
def list_imports(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> dict[str, object]:
    companion = access.get_companion(request.user, companion_id)
    mine = PastImport.objects.filter(companion=companion).select_related("job")
    return list_rows(mine, "created_at", query)


@companions_router.patch(
    IMPORT,
    response=ImportOut,
    operation_id="change_import",
    summary="Start or pause learning from an imported past, or change its nightly tokens",
)
def change_import(
    request: SignedInRequest, companion_id: UUID, import_id: UUID, body: ImportPatch
) -> PastImport:
    past = access.get_past_import(request.user, companion_id, import_id)
    is_running = None if body.learning is None else body.learning == "running"
    return change_learning(past, timezone.now(), is_running=is_running, nightly_tokens=body.nightly_tokens)


@companions_router.delete(
    IMPORT,
    response={202: JobOut},
    operation_id="undo_import",
    summary="Undo an import; its messages and everything derived from them are deleted",
)
def undo_import(request: SignedInRequest, companion_id: UUID, import_id: UUID) -> Status[dict[str, object]]:
    job = undo.begin_undo(access.get_past_import(request.user, companion_id, import_id), timezone.now())
    return Status(202, job_out(job))
