"""Write and read the journal of an archive: its entries switch a companion between branches, and contain rows.

The database will copy these rows into its tables unchanged, so each is checked just as a row of its own table.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from companions.archives.errors import RowError
from companions.archives.sections import JOURNAL, JOURNALED, ONLY_CHANGED, SECTIONS, SLEEPING, Section
from companions.archives.values import ID, Places, complete, read_row
from companions.models import JournalEntry

Row = dict[str, Any]
Kind = JournalEntry.Kind
NAMES = {SECTIONS[name].table: name for name in JOURNALED}  # the sections of its tables


def write_entry(row: Row) -> Row:
    """Return the entry with only those columns of its `before` and `after` that are archived."""
    fields = SECTIONS[NAMES[row["table"]]].fields

    def keep(content: Row | None) -> Row | None:
        return content and {key: value for key, value in content.items() if key in fields}

    return {**row, "before": keep(row["before"]), "after": keep(row["after"])}


def read_entry(raw: Row, places: Places, fixed: Mapping[str, Any]) -> Row:
    """Return the columns of an entry, with new ids; raise RowError if the entry is invalid."""
    row = read_row(JOURNAL, {**raw, "before": None, "after": None}, places)
    name = NAMES.get(raw.get("table", ""))
    if name is None:
        raise RowError("table", _("is not one that the journal covers"))
    section, kind = SECTIONS[name], row["kind"]
    if name in ONLY_CHANGED and kind != Kind.UPDATE:
        raise RowError("kind", _("has a value that is not allowed"))
    row["row"] = _read_id(raw.get("row"), section, places)
    for side in ("before", "after"):
        content = raw.get(side)
        if content is not None and not isinstance(content, dict):
            raise RowError(side, _("is of the wrong kind"))
        if content is not None and kind == Kind.UPDATE:
            row[side] = _read_columns(name, content, places)
        elif content and name not in SLEEPING:  # a whole row, which is not in its table now
            row[side] = _read_whole(section, content, places, fixed, row["row"])
    if kind == Kind.UPDATE and (row.get("before") is None or row.get("after") is None):
        raise RowError("before", _("is missing"))
    return complete(JOURNAL, row, fixed)


def _read_id(raw: Any, section: Section, places: Places) -> str:
    if section.is_numbered and isinstance(raw, str) and raw.isascii() and raw.isdecimal() and len(raw) < 19:
        return str(places.number(section.table, int(raw)))
    if not section.is_numbered and isinstance(raw, str) and ID.fullmatch(raw):
        return str(places.move_within(raw))
    raise RowError("row", _("is not an id"))


def _read_columns(name: str, content: Row, places: Places) -> Row:
    """Return the checked columns that an update changed, with new ids."""
    known = ONLY_CHANGED.get(name)
    if known is not None:
        content = {key: value for key, value in content.items() if key in known}
    return read_row(
        SECTIONS[name], {key: value for key, value in content.items() if key != "id"}, places, is_part=True
    )


def _read_whole(section: Section, content: Row, places: Places, fixed: Mapping[str, Any], id: str) -> Row:
    """Return a whole row that the journal contains; raise RowError unless it has the `id` that its entry names."""
    whole = complete(section, read_row(section, content, places), fixed)
    key = read_row(section, {"id": content.get("id")}, places, is_part=True)["id"]
    if str(key) != id:
        raise RowError("row", _("is not the one that the entry names"))
    return {**whole, "id": key}
