"""The quota of bytes that each person's cards and lorebooks may take together."""

from django.conf import settings
from django.db.models import Func, IntegerField, Model, Sum
from django.utils.translation import gettext as _

from accounts.models import User
from companions.errors import LimitError
from companions.models import Card, CardUpload, Lorebook, LoreEntry

KEPT: tuple[tuple[type[Model], str], ...] = (
    (LoreEntry, "data"),
    (Lorebook, "data"),
    (Card, "content"),
    (CardUpload, "content"),
)


def require_room(user: User, more: int = 0) -> None:
    """Raise LimitError if the user's cards and lorebooks, and `more` bytes, exceed the quota.

    Rows count with their stored size. Call it after a write, within the same transaction, so that the error undoes it.
    """
    used = more
    for model, field in KEPT:
        size = Func(field, function="pg_column_size", output_field=IntegerField())  # no ORM equivalent
        mine = model.objects.owned_by(user)  # type: ignore[attr-defined]
        used += mine.aggregate(bytes=Sum(size, default=0))["bytes"]
    if used > settings.CHARACTER_BYTES_EACH:
        detail = _(
            "Your lorebooks and cards can take up at most %(most)s MB, and this would be more. Delete one that you do"
            " not use."
        )
        raise LimitError("no_room", detail % {"most": settings.CHARACTER_BYTES_EACH // 1_000_000})
