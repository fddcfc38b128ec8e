"""Cursor pagination: a cursor names the last row of the page before."""

import base64
import binascii
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, Q, QuerySet
from ninja import Field, Query, Schema

from companions.errors import CompanionsError
from companions.moments import is_moment

Row = TypeVar("Row", bound=Model)
BAD_CURSOR = "bad_cursor", "This cursor is not one that Kith gave."


class CursorError(CompanionsError):
    """The cursor is not one that Kith gave out."""


class PageIn(Schema):
    limit: int = Field(50, ge=1, le=200, description="Maximum number of items to return.")
    cursor: str | None = Field(None, max_length=200, description="The `next` value of the previous page.")


PageQuery = Query[PageIn]


def paginate(rows: QuerySet[Row], time_field: str, query: PageIn) -> tuple[list[Row], str | None]:
    """Return a page of the rows, newest first by `time_field`, and the cursor of the next page or None."""
    return paginate_merged([(rows, time_field)], query)


def paginate_merged(
    sources: Sequence[tuple[QuerySet[Any], str]], query: PageIn
) -> tuple[list[Any], str | None]:
    """Return a page merged from several querysets, newest first, and the cursor of the next page or None.

    Each source is a queryset with the name of its time field.
    """
    found = []
    for rows, time_field in sources:
        if query.cursor:
            at, id = _read_cursor(query.cursor)
            rows = rows.filter(Q(**{f"{time_field}__lt": at}) | Q(**{time_field: at, "pk__lt": id}))
        newest = rows.order_by(f"-{time_field}", "-pk")[: query.limit + 1]
        found += [(getattr(row, time_field), row.pk, row) for row in newest]
    found.sort(key=lambda entry: entry[:2], reverse=True)
    given = found[: query.limit]
    cursor: str | None = None
    if len(found) > query.limit:
        at, id, _row = given[-1]
        cursor = base64.urlsafe_b64encode(f"{at.isoformat()}|{id}".encode()).decode()
    return [row for _at, _id, row in given], cursor


def _read_cursor(cursor: str) -> tuple[datetime, UUID]:
    try:
        at, id = base64.urlsafe_b64decode(cursor.encode()).decode().split("|")
        place = datetime.fromisoformat(at), UUID(id)
    except (ValueError, binascii.Error) as error:
        raise CursorError(*BAD_CURSOR) from error
    if not is_moment(place[0]):
        raise CursorError(*BAD_CURSOR)
    return place[0].astimezone(UTC), place[1]
