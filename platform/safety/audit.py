"""Writing down what an operator looked at or did."""

from uuid import UUID

from django.db.models import Model

from accounts.models import User
from safety.models import AuditEntry


def record(
    operator: User,
    deed: AuditEntry.Deed,
    model: type[Model],
    object_id: UUID | int | str = "",
    owner_id: int | None = None,
) -> AuditEntry:
    """The entry that says who did what to which thing of whom."""
    return AuditEntry.objects.create(
        operator=operator, deed=deed, kind=model._meta.label, object_id=str(object_id), owner_id=owner_id
    )
