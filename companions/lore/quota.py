"""How much one person may keep of characters that came as files, and of lore: cards and lorebooks together."""

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
    """Raise LimitError where the person's cards and lorebooks, and so many bytes more, take more than they may.

    What is there is measured as it is stored. Call it after a write within its transaction, which it then undoes.
    """
    used = more
    for model, field in KEPT:
        size = Func(field, function="pg_column_size", output_field=IntegerField())  # the ORM has none
        mine = model.objects.owned_by(user)  # type: ignore[attr-defined]
        used += mine.aggregate(bytes=Sum(size, default=0))["bytes"]
    if used > settings.CHARACTER_BYTES_EACH:
        detail = _(
            "Your lorebooks and cards may take %(most)s MB, and this would be more. Delete one that you do not use."
        )
        raise LimitError("no_room", detail % {"most": settings.CHARACTER_BYTES_EACH // 1_000_000})
