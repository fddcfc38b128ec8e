"""Pages of a list: a cursor names the last row that was given."""

import base64
import binascii
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from ninja import Field, Query, Schema

from companions.errors import CompanionsError
from companions.moments import is_moment

M = TypeVar("M", bound=Model)
BAD = "bad_cursor", "This cursor is not one that Kith gave."


class CursorError(CompanionsError):
    """A cursor that Kith never gave."""


class PageIn(Schema):
    limit: int = Field(50, ge=1, le=200, description="How many at most.")
    cursor: str | None = Field(None, max_length=200, description="`next` of the page before.")


PageQuery = Query[PageIn]


def page(rows: QuerySet[M], by: str, asked: PageIn) -> tuple[list[M], str | None]:
    """The page's rows, newest first by that time, and the cursor of the next page."""
    found = _found(rows, by, asked)
    given = found[: asked.limit]
    return given, _written(given[-1], by) if len(found) > asked.limit else None


def merged(several: Sequence[tuple[QuerySet[Any], str]], asked: PageIn) -> tuple[list[Any], str | None]:
    """The same of several kinds of rows together, each with its time."""
    found = [(getattr(one, by), one.pk, one, by) for rows, by in several for one in _found(rows, by, asked)]
    found.sort(key=lambda one: one[:2], reverse=True)
    given = found[: asked.limit]
    return [one[2] for one in given], _written(*given[-1][2:]) if len(found) > asked.limit else None


def _found(rows: QuerySet[M], by: str, asked: PageIn) -> list[M]:
    """One more than the page takes, from the cursor on."""
    if asked.cursor:
        at, id = _read(asked.cursor)
        rows = rows.filter(Q(**{f"{by}__lt": at}) | Q(**{by: at, "pk__lt": id}))
    return list(rows.order_by(f"-{by}", "-pk")[: asked.limit + 1])


def _written(row: Any, by: str) -> str:
    return base64.urlsafe_b64encode(f"{getattr(row, by).isoformat()}|{row.pk}".encode()).decode()


def _read(cursor: str) -> tuple[datetime, UUID]:
    try:
        at, id = base64.urlsafe_b64decode(cursor.encode()).decode().split("|")
        place = datetime.fromisoformat(at), UUID(id)
    except (ValueError, binascii.Error) as error:
        raise CursorError(*BAD) from error
    if not is_moment(place[0]):
        raise CursorError(*BAD)
    return place
