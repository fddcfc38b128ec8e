"""Writes that may be sent twice and are done once, by the header `Idempotency-Key`."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import transaction

from accounts.errors import IdempotencyConflictError, IdempotencyKeyError
from accounts.models import IdempotencyKey, User

__all__ = ["IdempotencyConflictError", "IdempotencyKeyError", "checked", "drop_old_keys", "once"]

KEPT = timedelta(hours=24)
LONGEST_KEY = 200


def once(
    user: User, operation: str, key: str | None, body: bytes | str, make: Callable[[], UUID]
) -> tuple[UUID, bool]:
    """The id of the row made, and whether it was made now; without a key it always is.

    Row and key are committed together, and whoever comes second waits for the first.
    IdempotencyKeyError: not a key; IdempotencyConflictError: the key came before with another body.
    """
    with transaction.atomic():
        if key is None:
            return make(), True
        kept, is_new = _claim(user, operation, key, digest_of(body))
        if is_new:
            kept.made_id = make()
            kept.save(update_fields=["made_id"])
        return kept.made_id, is_new


def _claim(user: User, operation: str, key: str, digest: str) -> tuple[IdempotencyKey, bool]:
    """The row of this key, and whether it is new; the unique constraint makes a second request wait here."""
    checked(key)
    kept, is_new = IdempotencyKey.objects.get_or_create(
        user=user, operation=operation, key=key, defaults={"digest": digest, "made_id": uuid4()}
    )
    if kept.digest != digest:
        raise IdempotencyConflictError("This Idempotency-Key was used before, with another body.")
    return kept, is_new


def checked(key: str | None) -> str | None:
    """The key as it came, or None where none came; IdempotencyKeyError."""
    if key is not None and not (1 <= len(key) <= LONGEST_KEY and key.isprintable()):
        raise IdempotencyKeyError(f"Idempotency-Key must be 1 to {LONGEST_KEY} printable characters.")
    return key


def digest_of(body: bytes | str) -> str:
    """The SHA-256 of a request's body in hex."""
    return hashlib.sha256(body.encode() if isinstance(body, str) else body).hexdigest()


def drop_old_keys(now: datetime) -> int:
    """Drop the keys older than a day; how many there were."""
    dropped, _ = IdempotencyKey.objects.filter(created_at__lt=now - KEPT).delete()
    return dropped
