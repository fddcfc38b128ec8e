"""Restore a companion from an archive as it was, in one transaction.

Rows are inserted by SQL, since the ORM would set some of their times to now. The journal's triggers are off, since the
archive contains the journal. Every constraint of the database is checked before the transaction ends.
"""

import hashlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from django.conf import settings
from django.db import DataError, IntegrityError, connection, transaction
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from accounts.models import User
from companions.archives.contents import MAX_FILE_BYTES, clean_content
from companions.archives.errors import ArchiveError, RowError
from companions.archives.journal import read_entry
from companions.archives.limits import require_limits, require_storage
from companions.archives.manifest import Manifest, list_remarks, read_manifest
from companions.archives.sections import JOURNAL, SECTIONS, Section
from companions.archives.values import Places, complete, list_columns, parse_line, read_row
from companions.errors import LimitError
from companions.face.portraits import SEEDS
from companions.life.timers.timers import move_timers
from companions.models import Companion, Portrait, Reply
from database.journal import replaying
from database.queries import lift_statement_timeout
from files.archives import Archive, Digest
from files.contents import name_content, put_content, remove_contents, require_room
from memory.models import Memory
from memory.store import entry_of, nudge
from text.strings import one_line

BATCH = 500
BATCH_BYTES = 4_000_000  # a row may have 8 MB, and five hundred of these are more than there is memory
NOBODY = UUID(int=0)
Row = dict[str, Any]
Progress = Callable[[int], object]

INSERT = (
    "INSERT INTO {table} ({columns}) SELECT {columns} FROM jsonb_populate_recordset(NULL::{table}, %s::jsonb)"
)
# Count the messages that no path from a first message reaches: such messages form a circle.
LOST = """
WITH RECURSIVE tree AS (
    SELECT id FROM companions_message WHERE companion_id = %(companion)s AND parent_id IS NULL
  UNION ALL
    SELECT message.id FROM companions_message message JOIN tree ON message.parent_id = tree.id
)
SELECT (SELECT count(*) FROM companions_message WHERE companion_id = %(companion)s) - (SELECT count(*) FROM tree)
"""
# Move the changes marked with an unfinished reply, which will not continue, to the end of the conversation.
MOVE_MARK = "SELECT companions_move_mark(%(companion)s, %(mark)s, companions_find_mark(%(companion)s))"


def _ignore(_what: object) -> None:
    pass


@dataclass(frozen=True, slots=True)
class Restored:
    """The restored companion, and sentences on what of the archive it lacks."""

    companion: Companion
    remarks: list[str]


def restore(
    user: User,
    archive: Archive,
    now: datetime,
    progress: Progress = _ignore,
    finish: Callable[[Restored], object] = _ignore,
) -> Restored:
    """Create and return a companion of the user with all that the archive holds, and call `finish` in its transaction.

    Raise ArchiveError, LimitError or FilesError; then neither a row nor a file of it is left.
    """
    work = _Restore(user, archive, read_manifest(archive), now, progress)
    try:
        with transaction.atomic(), replaying():
            lift_statement_timeout()
            restored = work.run()
            finish(restored)
    except BaseException as error:
        remove_contents(work.keys)
        if isinstance(error, IntegrityError):
            raise ArchiveError("contradiction", _explain(error)) from error
        if isinstance(error, DataError):
            detail = _("A row of the archive contains something that the database cannot store.")
            raise ArchiveError("bad_row", detail) from error
        raise
    return restored


def _explain(error: IntegrityError) -> str:
    diagnosis = getattr(error.__cause__, "diag", None)
    table = getattr(diagnosis, "table_name", None) or ""
    names = {section.table: name for name, section in SECTIONS.items()}
    values = {"section": names.get(table, table) or "?"}
    if getattr(diagnosis, "sqlstate", "") == "23503":
        return _("A row of %(section)s points to something that is not in the archive.") % values
    return _("Rows of %(section)s contradict each other, or contain something impossible.") % values


@dataclass
class _Restore:
    """One restore of an archive; `keys` are those of the files that were put into the storage."""

    user: User
    archive: Archive
    manifest: Manifest
    now: datetime
    progress: Progress
    places: Places = field(default_factory=lambda: Places(secrets.token_bytes(32)))
    keys: list[str] = field(default_factory=list)
    done: int = 0
    read: int = 0  # bytes of rows
    spent: int = 0  # bytes of files
    unknown: set[str] = field(default_factory=set)
    open_replies: list[str] = field(default_factory=list)
    companion_id: UUID = NOBODY
    old_id: UUID = NOBODY

    def run(self) -> Restored:
        self._check_room()
        for name, section in SECTIONS.items():
            if name == "companion":
                self._restore_companion()
            elif name in self.manifest.sections:
                self._insert_all(name, section, self._read_rows(name, section))
        self._finish_gists()
        with connection.cursor() as cursor:
            for reply_id in self.open_replies:
                cursor.execute(MOVE_MARK, {"companion": self.companion_id, "mark": reply_id})
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
            cursor.execute("SET CONSTRAINTS ALL DEFERRED")
            cursor.execute(LOST, {"companion": self.companion_id})
            [lost] = cursor.fetchone()
        if lost:
            raise ArchiveError("no_tree", _("Messages in the archive follow each other in a circle."))
        companion = Companion.objects.get(pk=self.companion_id)
        if not hasattr(companion, "portrait"):  # its face was derived from its id, which is another now
            Portrait.objects.create(companion=companion, seed=self.old_id.int % SEEDS)
        move_timers(companion.pk, self.now)  # which the archive contains as they are due in another time zone
        self._check_room_left()
        nudge(companion.pk)
        return Restored(companion, self._list_remarks())

    # -- limits

    def _check_room(self) -> None:
        """Raise LimitError or NoRoomError if the user has no room for the companion or its files.

        Raise ArchiveError unless the archive holds exactly one companion.
        """
        self._check_companions(1)
        if [self.manifest.count(name) for name in ("companion", "conversations", "life")] != [1, 1, 1]:
            raise ArchiveError("bad_manifest", _("The archive contains no companion, or more than one."))
        require_room(self.user, self.manifest.files.bytes)

    def _check_room_left(self) -> None:
        """Check the limits again at the end, with the user's row locked, which earlier would block other requests."""
        User.objects.select_for_update(no_key=True, of=("self",)).get(pk=self.user.pk)
        self._check_companions(0)
        require_room(self.user, 0)
        require_limits(self.user, self.companion_id)
        require_storage(self.user)

    def _check_companions(self, more: int) -> None:
        if Companion.objects.owned_by(self.user).count() + more > settings.COMPANIONS_EACH:
            detail = _(
                "You already have %(count)s companions, which is the most you can have. Delete one first."
            )
            raise LimitError("too_many_companions", detail % {"count": settings.COMPANIONS_EACH})

    # -- rows

    @property
    def _fixed(self) -> Row:
        return {"companion_id": str(self.companion_id), "user_id": self.user.pk}

    def _restore_companion(self) -> None:
        [(number, raw)] = self._read_rows("companion", SECTIONS["companion"])
        try:
            self.old_id = UUID(str(raw.get("id")))
        except ValueError:
            raise RowError("id", _("is not an id")).locate("companion", number) from None
        self.companion_id = self.places.move(self.old_id)
        raw |= {key: one_line(raw[key]) for key in ("name", "nickname") if isinstance(raw.get(key), str)}
        if not raw.get("name"):
            raise RowError("name", _("is missing")).locate("companion", number)
        self._insert_all("companion", SECTIONS["companion"], iter([(number, raw)]))

    def _insert_all(self, name: str, section: Section, rows: Iterator[tuple[int, Row]]) -> None:
        batch: list[Row] = []
        begun = self.read
        for number, raw in rows:
            self.unknown |= {f"{name}.{key}"[:80] for key in raw.keys() - set(section.fields)}
            try:
                batch.append(self._make_row(name, section, raw))
            except RowError as error:
                raise error.locate(name, number) from None
            if len(batch) == BATCH or self.read - begun > BATCH_BYTES:
                self._insert(section, batch)
                batch, begun = [], self.read
        if batch:
            self._insert(section, batch)

    def _make_row(self, name: str, section: Section, raw: Row) -> Row:
        """Return the row to insert for a raw row of the archive; raise RowError if it is invalid."""
        if name == "journal":
            return read_entry(raw, self.places, self._fixed)
        row = complete(section, read_row(section, raw, self.places), self._fixed)
        if name == "files":
            self._bring_file(row, raw)
        elif name == "memories":  # `_finish_gists` does gists again, once their pages are there
            row["entry"] = self._pack(row["text"], row["speaker"], row["happened_at"])
        elif name == "replies" and row["state"] in Reply.OPEN:  # no process goes on with it here
            row["state"], row["ended_at"] = Reply.State.INTERRUPTED, self.now.isoformat()
            self.open_replies.append(row["id"])
        return row

    def _insert(self, section: Section, rows: list[Row]) -> None:
        if section is JOURNAL:
            self._index_entries(rows)
        columns = [column for column in list_columns(section) if column in rows[0]]
        quoted = ", ".join(f'"{column}"' for column in columns)
        with connection.cursor() as cursor:
            cursor.execute(INSERT.format(table=section.table, columns=quoted), [orjson.dumps(rows).decode()])
        self.done += len(rows)
        self.progress(self.done)

    def _read_rows(self, name: str, section: Section) -> Iterator[tuple[int, Row]]:
        """Yield the section's rows with their line numbers; raise ArchiveError if they do not match the manifest."""
        listed, digest, number = self.manifest.sections[name], Digest(), 0
        for number, line in enumerate(self.archive.read_lines(f"{name}.ndjson", digest), start=1):
            if number > section.most or number > listed.rows:
                break
            self.read += len(line)
            try:
                yield number, parse_line(line)
            except RowError as error:
                raise error.locate(name, number) from None
        if number != listed.rows or digest.sha256 != listed.sha256:
            detail = _("%(section)s in the archive is damaged: it does not match the list of contents.")
            raise ArchiveError("bad_section", detail % {"section": f"{name}.ndjson"})

    # -- search entries and files

    def _pack(self, text: str, speaker: str, happened_at: str) -> str:
        at = parse_datetime(happened_at)
        assert at is not None  # noqa: S101 (read_row has checked it)
        return f"\\x{entry_of(text, speaker, at, self.user.zone).hex()}"

    def _finish_gists(self) -> None:
        gists = Memory.everywhere.of(self.companion_id).filter(kind=Memory.Kind.GIST, page__isnull=False)
        for memory in gists.select_related("page").iterator(BATCH):
            entry = entry_of(memory.text, "", memory.happened_at, self.user.zone, memory.page.text)
            Memory.everywhere.filter(pk=memory.pk).update(entry=entry)

    def _index_entries(self, rows: list[Row]) -> None:
        """Add the search `entry` to journal rows that correct a memory's text or time."""
        corrected = [
            (row, content)
            for row in rows
            if row["table"] == Memory._meta.db_table
            for content in (row["before"], row["after"])
            if content and content.keys() & {"text", "happened_at"}
        ]
        there = Memory.everywhere.of(self.companion_id).defer("entry")
        memories = there.in_bulk({UUID(row["row"]) for row, _content in corrected}) if corrected else {}
        for row, content in corrected:
            if memory := memories.get(UUID(row["row"])):
                text = content.get("text", memory.text)
                at = content.get("happened_at", memory.happened_at.isoformat())
                content["entry"] = self._pack(text, memory.speaker, at)

    def _bring_file(self, row: Row, raw: Row) -> None:
        """Put the file's content into the storage, or note that it is missing if the manifest says so.

        Raise RowError if the content is not in the archive, or does not match its row.
        """
        path = f"files/{raw['id']}"
        row["missed_at"] = None
        if path not in self.archive.entries:
            if raw["id"] not in self.manifest.missing:
                raise RowError("file", _("is missing from the archive"))
            row["key"], row["missed_at"] = name_content(row["kind"]), self.now.isoformat()
            return
        if not 0 < row["bytes"] <= MAX_FILE_BYTES or self.archive.entries[path].file_size != row["bytes"]:
            raise RowError("bytes", _("does not match the size of the file"))
        content = self.archive.read(path, MAX_FILE_BYTES)
        if hashlib.sha256(content).hexdigest() != row["sha256"]:
            raise RowError("sha256", _("does not match the file"))
        self.spent += len(content)
        if self.spent > self.manifest.files.bytes:  # the room that was checked for
            raise RowError("bytes", _("does not match the size of the file"))
        drawn = clean_content(row["kind"], row["content_type"], content)
        if drawn:
            content = drawn.content
            row |= {"width": drawn.width, "height": drawn.height, "bytes": len(content)}
            row["sha256"] = hashlib.sha256(content).hexdigest()
        row["key"] = put_content(row["kind"], content, row["content_type"])
        self.keys.append(row["key"])

    def _list_remarks(self) -> list[str]:
        remarks = list_remarks(self.manifest)
        fields = sorted(self.unknown)[:10]
        if fields:
            sentence = _("Fields that this Kith does not know were left out: %(names)s.")
            remarks.append(sentence % {"names": ", ".join(fields)})
        return remarks
