"""Pasts: preview and import earlier talk from a file, control the nightly learning from it, and undo an import."""

from datetime import datetime
from hashlib import sha256
from typing import Any, Literal
from uuid import UUID

from django.utils import timezone
from ninja import Field, Form, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import once
from accounts.rates import admit_to
from companions import access
from companions.api.jobs import JobOut, job_out
from companions.api.schemas import FILE, IdempotencyKey, ListOut, Text, describe_form, list_rows
from companions.conversations.log_import import progress
from companions.models import Companion, PastImport
from companions.models.past import PATTERN_CHARACTERS, SPEAKER_CHARACTERS
from companions.pagination import PageQuery
from companions.pasts import imports, undo, uploads
from companions.pasts.learning import (
    LEAST_NIGHTLY,
    MOST_NIGHTLY,
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
from pasts.past import MAX_BYTES

router = Router(tags=["pasts"])
companions_router = Router(tags=["pasts"])
COMPANION = "/{uuid:companion_id}"
IMPORT = COMPANION + "/imports/{uuid:import_id}"
TEXT, YES, NUMBER = {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
FormName = Literal["", "sillytavern", "chatgpt", "character_ai", "risuai", "koboldai", "oobabooga", "text"]


class SpeakerOut(Schema):
    name: str
    messages: int
    is_person: bool = Field(description="Whether this is the person; else a companion said it.")


class CostOut(Schema):
    sessions: int
    tokens: int = Field(description="About how many it takes to learn from all of it.")


class PastPreviewOut(Schema):
    form: str
    conversations: int
    messages: int
    alternatives: int = Field(description="Of the messages those that were not chosen, as swipes.")
    branches: int
    duplicates: int = Field(description="Messages that the companion has already; they are passed over.")
    first_at: datetime | None = Field(description="Null where the file has no dates: then they are made up.")
    last_at: datetime | None
    name: str = Field(description="What a companion made of it would be called.")
    speakers: list[SpeakerOut]
    cost: CostOut
    nights: int = Field(description="In how many nights it is learnt from.")
    remarks: list[str]


class ReadForm(Schema):
    format: FormName = Field("", description="What wrote the file; found out where it is not told.")
    person: Text = Field("", max_length=SPEAKER_CHARACTERS, description="Which speaker is the person.")
    pattern: Text = Field(
        "", max_length=PATTERN_CHARACTERS, description="Of plain text, as `[{date}] {name}: {text}`."
    )


class PreviewForm(ReadForm):
    companion: UUID | None = Field(None, description="Whose messages may be there already.")
    nightly_tokens: int = Field(NIGHTLY_TOKENS, ge=LEAST_NIGHTLY, le=MOST_NIGHTLY)


class PastForm(ReadForm):
    learn: bool = Field(False, description="Also learn from it, over nights.")
    nightly_tokens: int = Field(NIGHTLY_TOKENS, ge=LEAST_NIGHTLY, le=MOST_NIGHTLY)


class LearntOut(Schema):
    done: int
    failed: int
    total: int


class RestOut(Schema):
    tokens: int = Field(description="About how many it takes to learn from all of it.")
    tokens_left: int = Field(description="About how many of those are still to come.")
    nights_left: int = Field(description="In how many nights it is learnt from, from now on.")


class ImportOut(Schema):
    id: UUID
    job_id: UUID
    form: str
    titles: list[str]
    state: str = Field(description="waiting, running, done (recallable), failed, or undoing.")
    messages: int = Field(alias="messages_count")
    duplicates: int = Field(alias="skipped_count")
    first_at: datetime | None = Field(description="Null where the file had no dates: then they are made up.")
    last_at: datetime | None
    learning: str = Field(description="none, running, paused or done.")
    learnt: LearntOut = Field(description="Sessions: of so many it is learnt from, or could not be.")
    nightly_tokens: int
    tokens_spent: int
    cost: RestOut
    created_at: datetime

    @staticmethod
    def resolve_state(past: PastImport) -> str:
        return "undoing" if past.state == PastImport.State.UNDOING else progress(past.job)[0]

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
    nightly_tokens: int | None = Field(None, ge=LEAST_NIGHTLY, le=MOST_NIGHTLY)


@router.post(
    "/preview",
    response=PastPreviewOut,
    operation_id="preview_past",
    summary="What a file of earlier talk would become; nothing is made or kept",
    openapi_extra=describe_form(
        ["file"], file=FILE, format=TEXT, person=TEXT, pattern=TEXT, companion=TEXT, nightly_tokens=NUMBER
    ),
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
    summary="Remember a file of earlier talk with its own dates; done means recallable",
    openapi_extra=describe_form(
        ["file"], file=FILE, format=TEXT, person=TEXT, pattern=TEXT, learn=YES, nightly_tokens=NUMBER
    ),
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
    upload_id = upload.pk

    def make() -> UUID:
        return imports.begin(companion, upload, read, wanted, now).job_id

    body = f"{sha256(content).hexdigest()} {chosen.model_dump_json()}"
    try:
        job_id, _ = once(request.user, f"import_past {companion_id}", key, body, make)
    finally:
        uploads.drop_upload(upload_id)  # if no import uses it
    return Status(202, job_out(access.get_job(request.user, companion_id, job_id)))


@companions_router.get(
    COMPANION + "/imports",
    response=ImportsOut,
    operation_id="list_imports",
    summary="The pasts that came from files",
)
def list_imports(request: SignedInRequest, companion_id: UUID, query: PageQuery) -> dict[str, object]:
    companion: Companion = access.get_companion(request.user, companion_id)
    mine = PastImport.objects.filter(companion=companion).select_related("job")
    return list_rows(mine, "created_at", query)


@companions_router.patch(
    IMPORT,
    response=ImportOut,
    operation_id="change_import",
    summary="Learn from it, pause, or let it take another amount a night",
)
def change_import(
    request: SignedInRequest, companion_id: UUID, import_id: UUID, body: ImportPatch
) -> PastImport:
    past = access.get_past_import(request.user, companion_id, import_id)
    is_running: Any = {"running": True, "paused": False}.get(body.learning or "")
    return change_learning(past, timezone.now(), is_running=is_running, nightly_tokens=body.nightly_tokens)


@companions_router.delete(
    IMPORT,
    response={202: JobOut},
    operation_id="undo_import",
    summary="Undo it: its messages are deleted with all that was drawn from them",
)
def undo_import(request: SignedInRequest, companion_id: UUID, import_id: UUID) -> Status[dict[str, object]]:
    job = undo.begin_undo(access.get_past_import(request.user, companion_id, import_id), timezone.now())
    return Status(202, job_out(job))
