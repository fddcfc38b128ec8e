"""Idempotent writes: a request that is sent again with the same `Idempotency-Key` header is carried out once."""

import hashlib
from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.db import transaction

from accounts.errors import IdempotencyConflictError, IdempotencyKeyError
from accounts.models import IdempotencyKey, User

KEY_LIFETIME = timedelta(hours=24)
MAX_KEY_CHARACTERS = 200


def create_once(
    user: User, operation: str, key: str | None, body: bytes | str, make: Callable[[], UUID]
) -> tuple[UUID, bool]:
    """Return the id of the row that `make` created, and True if it was created now; without a key it always is.

    Row and key are committed together; a second request with the same key waits for the first, and gets its row.
    Raise IdempotencyKeyError if the key is malformed, IdempotencyConflictError if it was used with another body.
    """
    if key is None:
        with transaction.atomic():
            return make(), True
    check_key(key)
    digest = hashlib.sha256(body.encode() if isinstance(body, str) else body).hexdigest()
    with transaction.atomic():
        # The unique constraint makes a second request wait here.
        row, is_new = IdempotencyKey.objects.get_or_create(
            user=user, operation=operation, key=key, defaults={"digest": digest, "made_id": uuid4()}
        )
        if row.digest != digest:
            raise IdempotencyConflictError(
                "idempotency_key_taken", "This Idempotency-Key was used before, with another body."
            )
        if is_new:
            row.made_id = make()
            row.save(update_fields=["made_id"])
        return row.made_id, is_new


def find_made(user: User, operation: str, key: str) -> UUID | None:
    """Return the id of the row that the operation created under this key, or None."""
    rows = IdempotencyKey.objects.filter(user=user, operation=operation, key=key)
    return rows.values_list("made_id", flat=True).first()


def check_key(key: str | None) -> str | None:
    """Return the key unchanged, or None if there is none; raise IdempotencyKeyError if it is malformed."""
    if key is not None and not (1 <= len(key) <= MAX_KEY_CHARACTERS and key.isprintable()):
        detail = f"Idempotency-Key must be 1 to {MAX_KEY_CHARACTERS} printable characters."
        raise IdempotencyKeyError("bad_idempotency_key", detail)
    return key


def drop_old_keys(now: datetime) -> int:
    """Delete the keys that are older than a day; return how many there were."""
    dropped, _ = IdempotencyKey.objects.filter(created_at__lt=now - KEY_LIFETIME).delete()
    return dropped
