"""Work that goes on as a job: importing a log, closing a session; and the progress of jobs."""

from typing import Annotated, Any
from uuid import UUID

from django.utils import timezone
from ninja import Field, Router, Schema, Status
from ninja.params import functions as P
from pydantic import StringConstraints

from accounts.authentication import SignedInRequest
from accounts.idempotency import create_once
from accounts.limits.rates import admit_to
from companions import access
from companions.api.schemas import ClientId, FilledText, IdempotencyKey, Out, Text, Timestamp
from companions.models import Job
from companions.pasts import job_progress, log_import
from companions.sessions.requests import close

router = Router(tags=["logs"])


class LogLineIn(Schema):
    client_id: ClientId | None = None
    role: Annotated[str, StringConstraints(pattern="^(user|assistant)$")]
    name: Text = Field("", max_length=80)
    text: FilledText = Field(max_length=32_000)
    at: Timestamp


class LogIn(Schema):
    messages: list[LogLineIn] = Field(max_length=log_import.MAX_MESSAGES)


class ProgressOut(Schema):
    id: UUID
    state: str
    done: int
    total: int
    error: str | None


class JobOut(Schema):
    job: ProgressOut


class CloseIn(Schema):
    remember: bool = Field(
        default=True,
        description="Whether to remember the session. If false, everything said in it is deleted.",
    )


# A default that is an object is one that generators of clients cannot read: they leave the operation out.
NO_BODY: Any = P.Body(None)


@router.post(
    "/{uuid:companion_id}/import/log",
    response={202: JobOut},
    operation_id="import_log",
    summary="Import earlier messages, all or nothing; when the job is done, they can be recalled",
)
def import_log(
    request: SignedInRequest,
    companion_id: UUID,
    body: LogIn,
    key: IdempotencyKey = None,
) -> Status[Out]:
    companion = access.get_companion(request.user, companion_id)
    lines = [log_import.Line(**line.dict()) for line in body.messages]

    def make() -> UUID:
        admit_to(companion.user, "imports", timezone.now())
        return log_import.import_log(companion, lines, timezone.now()).pk

    job_id, _ = create_once(request.user, f"import_log {companion_id}", key, request.body, make)
    return Status(202, job_out(access.get_job(request.user, companion_id, job_id)))


@router.post(
    "/{uuid:companion_id}/close",
    response={202: JobOut},
    operation_id="close_session",
    summary="Close the session; what was said in it is remembered or deleted",
)
def close_session(
    request: SignedInRequest,
    companion_id: UUID,
    body: CloseIn = NO_BODY,
    key: IdempotencyKey = None,
) -> Status[Out]:
    companion = access.get_companion(request.user, companion_id)
    job_id, _ = create_once(
        request.user,
        f"close_session {companion_id}",
        key,
        request.body,
        lambda: close(companion, timezone.now(), is_forgetful=not (body or CloseIn()).remember).pk,
    )
    return Status(202, job_out(access.get_job(request.user, companion_id, job_id)))


@router.get(
    "/{uuid:companion_id}/jobs/{uuid:job_id}",
    response=JobOut,
    operation_id="get_job",
    summary="Get the progress of a job",
)
def get_job(request: SignedInRequest, companion_id: UUID, job_id: UUID) -> Out:
    return job_out(access.get_job(request.user, companion_id, job_id))


def job_out(job: Job) -> Out:
    state, done = job_progress.measure_progress(job)
    error = job_progress.get_error_code(job) or None
    return {"job": {"id": job.pk, "state": state, "done": done, "total": job.total, "error": error}}
