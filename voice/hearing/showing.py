"""Recordings in the form in which pages and the API give them."""

from typing import Any

from django.urls import reverse

from accounts.errors import RefusedError
from voice.models import Recording


def shown(recording: Recording, trouble: RefusedError | None = None) -> dict[str, Any]:
    """A recording as JSON; `trouble` is why nothing was heard in it, though it is kept."""
    return {
        "id": str(recording.pk),
        "text": recording.heard,
        "seconds": round(recording.seconds, 2),
        "language": recording.language,
        "message_id": str(recording.message_id) if recording.message_id else None,
        "file_id": str(recording.file_id),
        "sound": reverse("file", args=[recording.file_id]),
        "created_at": recording.created_at.isoformat(),
        "code": trouble.code if trouble else None,
        "detail": str(trouble.detail) if trouble else None,
    }
