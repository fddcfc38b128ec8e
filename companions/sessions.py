"""Ending a session on request. For now nothing else follows from it."""

from datetime import datetime
from uuid import UUID, uuid4

from django.db import transaction

from companions.locking import lock
from companions.models import Companion, Job, Session


@transaction.atomic
def close(companion: Companion, now: datetime, id: UUID | None = None) -> Job:
    """The open session ends now; the next message begins a new one. The job is done at once."""
    lock(companion.pk)
    ended = Session.objects.filter(companion=companion, ended_at=None).update(ended_at=now)
    return Job.objects.create(id=id or uuid4(), companion=companion, kind=Job.Kind.CLOSE, total=ended)
