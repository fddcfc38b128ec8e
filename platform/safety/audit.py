"""Record what an operator looked at or did, and what they searched for."""

from collections.abc import Collection
from uuid import UUID

from cryptography.fernet import Fernet
from django.db.models import Model
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from database.encryption import decrypt, encrypt
from safety.models import AuditEntry, AuditKey


def record(
    operator: User,
    deed: AuditEntry.Deed,
    model: type[Model],
    object_id: UUID | int | str = "",
    owner_id: int | None = None,
) -> AuditEntry:
    """Write down who did what to which thing of whom."""
    return AuditEntry.objects.create(
        operator=operator, deed=deed, kind=model._meta.label, object_id=str(object_id), owner_id=owner_id
    )


def record_search(operator: User, model: type[Model], asked: str, owner_ids: Collection[int]) -> None:
    """Write an entry for each person whose things were found, what was asked sealed by that person's key.

    Where nothing was found, there is one entry, sealed by the operator's own key.
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
    """Return what was asked for; a dash where nothing was, and that it cannot be read where its key is gone."""
    if entry.asked is None or entry.asked_key is None:
        return "–"
    key = AuditKey.objects.filter(pk=entry.asked_key).first()
    if key is None:
        return _("No longer readable: the account is gone.")
    return Fernet(decrypt(key.sealed)).decrypt(bytes(entry.asked)).decode()


def _load_or_make_keys(user_ids: Collection[int]) -> dict[int, AuditKey]:
    """Return each person's key, made where there is none yet."""
    known: dict[int, AuditKey] = AuditKey.objects.in_bulk(user_ids, field_name="user_id")
    if missing := set(user_ids) - set(known):
        made = [AuditKey(user_id=user_id, sealed=encrypt(Fernet.generate_key())) for user_id in missing]
        AuditKey.objects.bulk_create(made, ignore_conflicts=True)  # another process may have been quicker
        known |= AuditKey.objects.in_bulk(missing, field_name="user_id")
    return known
