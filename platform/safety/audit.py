"""The audit trail: what operators looked at, did and searched for."""

from collections.abc import Collection
from typing import cast
from uuid import UUID

from cryptography.fernet import Fernet
from django.db.models import Model
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from database.encryption import decrypt, encrypt
from safety.models import AuditEntry, AuditKey


def get_operator(request: HttpRequest) -> User:
    """Return the signed-in operator."""
    return cast(User, request.user)


def record(
    operator: User,
    deed: AuditEntry.Deed,
    model: type[Model],
    object_id: UUID | int | str = "",
    owner_id: int | None = None,
    reason: str = "",
) -> AuditEntry:
    """Save and return an audit entry: which operator did what to which object of which owner, and why."""
    return AuditEntry.objects.create(
        operator=operator,
        deed=deed,
        kind=model._meta.label,
        object_id=str(object_id),
        owner_id=owner_id,
        reason=reason,
    )


def record_search(operator: User, model: type[Model], asked: str, owner_ids: Collection[int]) -> None:
    """Save an audit entry for each owner of a found object, with the query `asked` encrypted by that owner's key.

    If nothing was found, save one entry, encrypted by the operator's own key.
    """
    keys = _load_or_make_keys(owner_ids or [operator.pk])
    AuditEntry.objects.bulk_create(
        AuditEntry(
            operator=operator,
            deed=AuditEntry.Deed.LISTED,
            kind=model._meta.label,
            owner_id=user_id if owner_ids else None,
            asked=Fernet(decrypt(key.sealed)).encrypt(asked.encode()),
            asked_key=key.pk,
        )
        for user_id, key in keys.items()
    )


def read_search(entry: AuditEntry) -> str | Promise:
    """Return the entry's decrypted query, a dash if it has none, or a sentence that its key was deleted."""
    if entry.asked is None or entry.asked_key is None:
        return "–"
    key = AuditKey.objects.filter(pk=entry.asked_key).first()
    if key is None:
        return _("No longer readable: the account is gone.")
    return Fernet(decrypt(key.sealed)).decrypt(bytes(entry.asked)).decode()


def _load_or_make_keys(user_ids: Collection[int]) -> dict[int, AuditKey]:
    """Return the users' keys by user id, creating those that are missing."""
    known: dict[int, AuditKey] = AuditKey.objects.in_bulk(user_ids, field_name="user_id")
    if missing := set(user_ids) - set(known):
        made = [AuditKey(user_id=user_id, sealed=encrypt(Fernet.generate_key())) for user_id in missing]
        AuditKey.objects.bulk_create(made, ignore_conflicts=True)  # another process may have been quicker
        known |= AuditKey.objects.in_bulk(missing, field_name="user_id")
    return known
