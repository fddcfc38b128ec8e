"""Read the rows of an archive: check each value with the model's own fields, and replace old ids with new ones.

A new id keeps the first half of the old one, which keeps rows of the same moment in order. Its second half is a hash of
the old id keyed with the restore's secret, so that an archive cannot refer to rows of anybody else.
"""

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from hashlib import blake2b
from typing import Any
from uuid import UUID

import orjson
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import connection, models
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from companions.archives.errors import RowError
from companions.archives.sections import Section
from companions.moments import is_moment
from text.strings import is_storable

ID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}")
# In traces of lore, the id of an entry may have its place as a prefix.
KEY = re.compile(rf"((?:[0-9]+:)?)({ID.pattern})")
MAX_TEXT_CHARACTERS = 1_000_000  # of a text whose field has no limit
MAX_ITEMS = 20_000  # of one list in a row
MAX_MARKS = 300_000  # commas and brackets in a line: they tell how much memory parsing it takes
MAX_DEPTH = 30
MAX_NUMBERS = 500_000


@dataclass
class Places:
    """Maps the ids in an archive to new ones."""

    secret: bytes
    _numbers: dict[tuple[str, int], int] = field(default_factory=dict)

    def move(self, old: UUID) -> UUID:
        """Return the new UUID for an old one, always the same."""
        second = bytearray(blake2b(old.bytes, key=self.secret, digest_size=8).digest())
        second[0] = second[0] & 0x3F | 0x80  # the variant bits of RFC 9562
        return UUID(bytes=old.bytes[:8] + bytes(second))

    def number(self, table: str, old: int) -> int:
        """Return the new integer id for an old one of the table, taken from the table's sequence on first use.

        Raise RowError if there are more than `MAX_NUMBERS`.
        """
        if (new := self._numbers.get((table, old))) is None:
            if len(self._numbers) >= MAX_NUMBERS:
                raise RowError("id", _("is one too many"))
            with connection.cursor() as cursor:
                cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id'))", [table])
                [new] = cursor.fetchone()
            self._numbers[table, old] = int(new)
        return int(new)

    def move_within(self, value: Any, depth: int = 0) -> Any:
        """Return the JSON value with every string and key that is an id, or an id after a number and a colon, replaced.

        Other texts that contain an id stay as they are.
        """
        if depth > MAX_DEPTH:
            raise RowError("JSON", _("is nested too deeply"))
        if isinstance(value, str):
            key = KEY.fullmatch(value)
            return f"{key[1]}{self.move(UUID(key[2]))}" if key else value
        if isinstance(value, list):
            return [self.move_within(item, depth + 1) for item in value]
        if isinstance(value, dict):
            return {
                self.move_within(key, depth + 1): self.move_within(item, depth + 1)
                for key, item in value.items()
            }
        return value


def parse_line(line: bytes) -> dict[str, Any]:
    """Return the JSON object on a line; raise RowError if it is none, or too complex."""
    if sum(map(line.count, (b",", b"[", b"{"))) > MAX_MARKS:
        raise RowError("JSON", _("contains more than any row can"))
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:
        row = None
    if not isinstance(row, dict):
        raise RowError("JSON", _("is broken"))
    return row


def read_row(
    section: Section, raw: Mapping[str, Any], places: Places, *, is_part: bool = False
) -> dict[str, Any]:
    """Return the section's columns that the raw row has, with new ids, as JSON values for `jsonb_populate_recordset`.

    Raise RowError if a value is invalid, or `id` is missing, unless the row `is_part` of one. Other keys are ignored.
    """
    row = {}
    columns = {column.attname: column for column in section.model._meta.concrete_fields}
    for name in section.fields:
        if name not in raw:
            if not is_part and name == "id":
                raise RowError(name, _("is missing"))
            continue
        model_field = columns[name]
        try:
            row[name] = _read_value(section, model_field, raw[name], places)
        except RowError as error:
            raise RowError(name, error.what) from None
        except ValidationError as error:
            raise RowError(name, "; ".join(error.messages)[:200]) from None
    return row


def complete(section: Section, row: Mapping[str, Any], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row with all columns of its table: missing ones get their default. Raise RowError if there is none.

    An integer id that the database assigns is left out. `fixed` holds the columns of any table that the restore sets
    itself, unless the section has them.
    """
    whole: dict[str, Any] = {}
    for model_field in section.model._meta.concrete_fields:
        name = model_field.attname
        if name in fixed and name not in section.fields:
            whole[name] = fixed[name]
        elif name in row:
            whole[name] = row[name]
        elif isinstance(model_field, models.AutoField | models.BigAutoField):
            continue  # the database assigns it
        else:
            value = model_field.get_default()
            if value is None and not model_field.null:
                raise RowError(name, _("is missing"))
            whole[name] = _to_json(value)
    return whole


def list_columns(section: Section) -> Iterator[str]:
    """Yield the columns that a restored row of the section has, without integer ids that the database assigns."""
    for model_field in section.model._meta.concrete_fields:
        is_number = isinstance(model_field, models.AutoField | models.BigAutoField)
        if not is_number or section.is_numbered:
            yield model_field.attname


def _read_value(section: Section, model_field: Any, value: Any, places: Places) -> Any:
    name = model_field.attname
    if value is None:
        if not model_field.null:
            raise RowError(name, _("is missing"))
        return None
    if model_field.is_relation:
        if isinstance(model_field.target_field, models.UUIDField):
            return str(places.move(_parse_id(value)))
        return places.number(model_field.related_model._meta.db_table, _parse_number(value))
    if name == "id" and not isinstance(model_field, models.UUIDField):
        return places.number(section.table, _parse_number(value))
    if isinstance(model_field, models.JSONField):
        if not _is_storable(value):
            raise RowError(name, _("contains characters that are not text"))
        _check_shape(section, name, value)
        return value if name in section.plain else places.move_within(value)
    if isinstance(model_field, ArrayField):
        if not isinstance(value, list) or len(value) > min(model_field.size or MAX_ITEMS, MAX_ITEMS):
            raise RowError(name, _("is not a list, or is too long"))
        items = [_read_plain(model_field.base_field, item, places) for item in value]
        _check_shape(section, name, items)
        return items
    return _read_plain(model_field, value, places)


def _check_shape(section: Section, name: str, value: Any) -> None:
    try:
        if check := section.shapes.get(name) or section.plain.get(name):
            check(value)
    except (AttributeError, LookupError, TypeError, ValueError, RefusedError):
        raise RowError(name, _("does not have the right form")) from None


def _is_storable(value: Any, depth: int = 0) -> bool:
    if isinstance(value, str):
        return is_storable(value)
    if depth > MAX_DEPTH:
        raise RowError("JSON", _("is nested too deeply"))
    if isinstance(value, dict):
        return all(is_storable(key) and _is_storable(item, depth + 1) for key, item in value.items())
    return all(_is_storable(item, depth + 1) for item in value) if isinstance(value, list) else True


def _read_plain(model_field: Any, value: Any, places: Places) -> Any:
    """Return the checked value of a field that is neither a list, nor JSON, nor a foreign key."""
    if value is None:
        raise RowError(model_field.name, _("is missing"))
    if isinstance(model_field, models.UUIDField):
        return str(places.move(_parse_id(value)))
    if isinstance(model_field, models.BinaryField):
        try:
            content = base64.b64decode(value, validate=True)
        except (ValueError, TypeError):
            raise RowError(model_field.name, _("is broken")) from None
        return f"\\x{content[:1000].hex()}"
    _check_type(model_field, value)
    if isinstance(model_field, models.DateTimeField):
        try:
            at = parse_datetime(value)
        except ValueError:
            at = None
        if at is None or not is_moment(at):
            raise RowError(
                model_field.name, _("is not a time with a time zone between the years 1000 and 8999")
            )
        return value
    if isinstance(value, str) and not is_storable(value):
        raise RowError(model_field.name, _("contains characters that are not text"))
    if isinstance(model_field, models.TextField) and len(value) > (
        model_field.max_length or MAX_TEXT_CHARACTERS
    ):
        raise RowError(model_field.name, _("is too long"))
    value = model_field.to_python(value)
    if model_field.choices and value != "" and value not in dict(model_field.flatchoices):
        raise RowError(model_field.name, _("has a value that is not allowed"))
    model_field.run_validators(value)
    return _to_json(value)


def _check_type(model_field: Any, value: Any) -> None:
    """Raise RowError if the value's type is not the field's own, since Django would coerce it."""
    if isinstance(model_field, models.BooleanField):
        is_right = isinstance(value, bool)
    elif isinstance(model_field, models.IntegerField):
        is_right = isinstance(value, int) and not isinstance(value, bool)
    elif isinstance(model_field, models.FloatField):
        is_right = isinstance(value, int | float) and not isinstance(value, bool)
    else:
        is_right = isinstance(value, str)
    if not is_right:
        raise RowError(model_field.name, _("is of the wrong kind"))


def _parse_id(value: Any) -> UUID:
    if not isinstance(value, str) or not ID.fullmatch(value):
        raise RowError("id", _("is not an id"))
    return UUID(value)


def _parse_number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise RowError("id", _("is not a number"))
    return value


def _to_json(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, bytes | memoryview):
        return f"\\x{bytes(value).hex()}"
    return value
