"""Archives: export a whole companion, and restore one."""

from uuid import UUID

from django.conf import settings
from django.http import StreamingHttpResponse
from django.utils import timezone
from ninja import Field, Router, Schema, Status

from accounts.authentication import SignedInRequest
from accounts.idempotency import check_key, create_once
from accounts.limits.rates import admit_to
from companions import access
from companions.api.companions import COMPANION
from companions.api.jobs import ProgressOut
from companions.api.schemas import FILE, IdempotencyKey, describe_form
from companions.archives import uploads
from companions.archives.export import archive_response
from companions.models import ArchiveUpload
from files.uploads import open_upload

router = Router(tags=["moving"])


class RestoreOut(Schema):
    job: ProgressOut
    detail: str = Field(description="Why the archive was not restored, as a sentence; otherwise empty.")
    remarks: list[str] = Field(description="Parts of the archive that were not restored.")
    companion: UUID | None = Field(description="The restored companion; null until the restore is done.")


@router.get(
    COMPANION + "/export/archive",
    operation_id="export_archive",
    summary="Export a whole companion as a ZIP archive, streamed",
    openapi_extra={"responses": {200: {"description": "The archive.", "content": {"application/zip": {}}}}},
)
def export_archive(request: SignedInRequest, companion_id: UUID) -> StreamingHttpResponse:
    return archive_response(access.get_companion(request.user, companion_id))


@router.post(
    "/import/archive",
    operation_id="import_archive",
    response={202: RestoreOut},
    summary="Restore a companion from an archive, all or nothing",
    openapi_extra=describe_form(["file"], file=FILE),
)
def import_archive(request: SignedInRequest, key: IdempotencyKey = None) -> Status[dict[str, object]]:
    now = timezone.now()
    admit_to(request.user, "imports", now)
    check_key(key)
    file = open_upload(request, settings.ARCHIVE_BYTES)
    # Before the transaction of `once`, since it waits for the file storage.
    upload = uploads.keep_upload(request.user, file, now, is_looked_at=False)
    digest = upload.file.sha256 if upload.file else ""

    def make() -> UUID:
        uploads.begin(upload, now)
        return upload.pk

    try:
        made_id, _ = create_once(request.user, "import_archive", key, digest, make)
    finally:
        uploads.drop_unused(upload.pk)  # if the request was a repeat, or the restore could not begin
    return Status(202, describe_restore(access.get_archive_upload(request.user, made_id)))


@router.get(
    "/import/archive/{uuid:archive_id}",
    operation_id="get_restore",
    response=RestoreOut,
    summary="Get the progress of a restore",
)
def get_restore(request: SignedInRequest, archive_id: UUID) -> dict[str, object]:
    return describe_restore(access.get_archive_upload(request.user, archive_id))


def describe_restore(upload: ArchiveUpload) -> dict[str, object]:
    """Return the fields of `RestoreOut`: the restore of the upload, described as a job."""
    state = upload.state
    if state in (ArchiveUpload.State.KEPT, ArchiveUpload.State.WAITING):
        state = "running" if upload.attempts else "waiting"
    progress = {"done": upload.done, "total": upload.total, "error": upload.code or None}
    return {
        "job": {"id": upload.pk, "state": state, **progress},
        "detail": upload.error,
        "remarks": upload.remarks,
        "companion": upload.companion_id,
    }
