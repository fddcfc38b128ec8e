"""Fetching one model file: resumed where it broke off, checked as a whole, then put in its place.

The process that fetches holds a lock on the incomplete file, which ends with the process. All other state is in the row
and in that file, so that the process can be killed at any line and the work run again.
"""

import errno
import hashlib
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from io import FileIO
from pathlib import Path
from typing import Any

import structlog
from django.conf import settings
from django.db import connection, transaction

from jobs.lease import Clock, retry_at
from providers.downloads.models import Download, PinnedDigest
from providers.downloads.storage import get_part_path, has_room, lock_part, move_into_place, open_folder
from providers.engine.gguf import MAGIC, ModelFileError, read_model_file
from providers.http.guarded_http import STALL_SECONDS, OutboundError, Stream, open_stream

log = structlog.get_logger(__name__)
State, Failure = Download.State, Download.Failure
PROGRESS_INTERVAL = timedelta(seconds=1)
MARGIN_BYTES = 1_000_000_000  # of the disk stay free: the database may lie there too
MAX_ATTEMPTS = 8  # in a row in which nothing comes
MAX_CHECKS = 3  # of a file, if their process dies each time
DISK_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
LENGTH = re.compile(r"\d{1,18}\Z")
CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-\d{1,18}/(\d{1,18})\Z")
VALIDATOR = re.compile(r"[ -~]{1,300}\Z")
RETRIED = {Failure.SLOW, Failure.UNREACHABLE, Failure.BROKEN, Failure.CHANGED}
WORTHLESS = {
    Failure.CHANGED,
    Failure.CHECKSUM,
    Failure.PINNED,
    Failure.NOT_GGUF,
    Failure.HTML,
    Failure.TOO_LARGE,
}
OF_CLIENT = {
    "too_slow": Failure.SLOW,
    "unreachable": Failure.UNREACHABLE,
    "no_such_host": Failure.UNREACHABLE,
    "not_public": Failure.PRIVATE,
    "redirect": Failure.REDIRECT,
}
OF_STATUS = {
    401: Failure.DENIED,
    403: Failure.DENIED,
    404: Failure.MISSING,
    408: Failure.SLOW,
    410: Failure.MISSING,
    416: Failure.CHANGED,
    429: Failure.BROKEN,
}


class TransferError(Exception):
    """A file was not fetched; `failure` says why."""

    def __init__(self, failure: Download.Failure) -> None:
        super().__init__(failure.value)
        self.failure = failure


class DownloadStoppedError(Exception):
    """The download was paused or removed meanwhile, or this process is about to end."""


@dataclass
class Transfer:
    """One attempt to fetch a file, continuing from what came before."""

    row: Download
    part: Path
    file: FileIO
    clock: Clock
    is_stopping: Callable[[], bool]
    stall_seconds: float
    margin_bytes: int

    def fetch(self) -> None:
        """Receive what is missing of the file. Raise TransferError, OutboundError or OSError, or DownloadStoppedError."""
        row = self.row
        if os.fstat(self.file.fileno()).st_size < row.received_bytes:
            self._begin_anew()
        self.file.truncate(row.received_bytes)
        self.file.seek(row.received_bytes)
        if row.is_received:
            return
        headers = {"User-Agent": "Kith"}
        if row.received_bytes and row.validator:
            headers |= {"Range": f"bytes={row.received_bytes}-", "If-Range": row.validator}
        with open_stream(row.url, headers=headers, stall_seconds=self.stall_seconds) as stream:
            self._read_head(stream)
            self._save_progress()
            try:
                self._receive(stream)
            except OutboundError:
                self._save_progress()
                raise
        row.total_bytes = row.received_bytes
        self._save_progress()

    def _receive(self, stream: Stream) -> None:
        saved_at = self.clock()
        for block in stream.blocks:
            self._write(block, stream)
            if self.is_stopping():
                raise DownloadStoppedError
            if (now := self.clock()) - saved_at >= PROGRESS_INTERVAL:
                self._save_progress()
                saved_at = now

    def _read_head(self, stream: Stream) -> None:
        """Read from the answer's head whether it continues the file and how long the file is.

        Raise TransferError if the answer is of no use, the file is too large, or the disk has no room for it.
        """
        row = self.row
        version = find_validator(stream)
        if stream.status == 206:
            found = CONTENT_RANGE.match(stream.headers.get("Content-Range", ""))
            begins, total = (int(found[1]), int(found[2])) if found else (-1, -1)
            if (begins, total, version) != (row.received_bytes, row.total_bytes, row.validator):
                raise TransferError(Failure.CHANGED)
        elif stream.status == 200:
            self._begin_anew()
            length = stream.headers.get("Content-Length", "")
            row.total_bytes = int(length) if LENGTH.match(length) else None
            row.validator = version
        else:
            broken = Failure.BROKEN if stream.status >= 500 else Failure.REFUSED
            raise TransferError(OF_STATUS.get(stream.status, broken))
        if (row.total_bytes or 0) > settings.DOWNLOAD_BYTES:
            raise TransferError(Failure.TOO_LARGE)
        if not has_room((row.total_bytes or 0) - row.received_bytes, self.margin_bytes):
            raise TransferError(Failure.DISK_FULL)

    def _write(self, block: bytes, stream: Stream) -> None:
        if not self.row.received_bytes and not block.startswith(MAGIC):
            is_page = block.lstrip().startswith(b"<") or "html" in stream.headers.get("Content-Type", "")
            raise TransferError(Failure.HTML if is_page else Failure.NOT_GGUF)
        if self.row.received_bytes + len(block) > settings.DOWNLOAD_BYTES:
            raise TransferError(Failure.TOO_LARGE)
        rest = memoryview(block)
        while rest:
            rest = rest[self.file.write(rest) :]
        self.row.received_bytes += len(block)

    def _begin_anew(self) -> None:
        self.file.truncate(0)
        self.file.seek(0)
        self.row.received_bytes, self.row.validator, self.row.total_bytes = 0, "", None

    def _save_progress(self) -> None:
        """Sync the file to the disk, then save its progress in the row.

        Raise DownloadStoppedError if the download is no longer active, or TransferError if the disk is full.
        """
        os.fsync(self.file.fileno())
        update_active(
            self.row,
            received_bytes=self.row.received_bytes,
            total_bytes=self.row.total_bytes,
            validator=self.row.validator,
            failure="",
        )
        if not connection.in_atomic_block:  # a download takes hours, and needs a connection for milliseconds
            connection.close_if_unusable_or_obsolete()
        if not has_room(0, self.margin_bytes):
            raise TransferError(Failure.DISK_FULL)

    def install(self) -> None:
        """Check the file and move it into place.

        Raise TransferError if it is wrong or its name is taken, or DownloadStoppedError.
        """
        row, path = self.row, open_folder() / self.row.file_name
        digest = check_file(row, self.part)
        if not row.sha256:
            pin, _is_new = PinnedDigest.objects.get_or_create(
                url=row.url, defaults={"sha256": digest, "pinned_at": self.clock()}
            )
            if pin.sha256 != digest:
                raise TransferError(Failure.PINNED)
        elif row.sha256 != digest:
            raise TransferError(Failure.CHECKSUM)
        with transaction.atomic():
            update_active(row, state=State.DONE, failure="")
            if path.exists():
                raise TransferError(Failure.NAME_TAKEN)
            move_into_place(self.part, path)


def run_download(
    download_id: int,
    clock: Clock,
    *,
    is_stopping: Callable[[], bool] = lambda: False,
    stall_seconds: float = STALL_SECONDS,
    margin_bytes: int = MARGIN_BYTES,
) -> None:
    """Fetch the file of the download, unless it is not due or another process is fetching it.

    A failure is saved in the row, with the time of the next attempt if there is to be one.
    """
    due = Download.objects.filter(pk=download_id, state=State.ACTIVE, next_at__lte=clock())
    row = due.first()
    if row is None:
        return
    before = row.received_bytes
    try:
        part = get_part_path(download_id)
        with lock_part(part) as file:
            if file is None:
                return
            row.refresh_from_db(from_queryset=due)
            before = row.received_bytes
            if is_in_place(row):
                update_active(row, state=State.DONE, failure="")
                part.unlink()
            else:
                transfer = Transfer(row, part, file, clock, is_stopping, stall_seconds, margin_bytes)
                transfer.fetch()
                transfer.install()
    except (DownloadStoppedError, Download.DoesNotExist):
        if not Download.objects.filter(pk=download_id).exists():
            part.unlink(missing_ok=True)
    except (TransferError, OutboundError, OSError) as error:
        note_failure(row, classify(error), clock(), has_come=row.received_bytes > before)


def classify(error: TransferError | OutboundError | OSError) -> Download.Failure:
    """Return the kind of failure that the error is."""
    if isinstance(error, TransferError):
        return error.failure
    if isinstance(error, OutboundError):
        return OF_CLIENT.get(error.code, Failure.ADDRESS)
    return Failure.DISK_FULL if error.errno in DISK_FULL else Failure.NOT_WRITABLE


def find_validator(stream: Stream) -> str:
    """Return what identifies the file's version at the server: a strong ETag, else its date, else an empty string."""
    tag = stream.headers.get("ETag", "")
    found = tag if tag.startswith('"') else stream.headers.get("Last-Modified", "")
    return found if VALIDATOR.match(found) else ""


def check_file(row: Download, path: Path) -> str:
    """Return the file's SHA-256. Raise TransferError if it is no whole model in GGUF, or DownloadStoppedError.

    The check is counted before it begins, so that a file whose check kills its process again and again is given up.
    """
    if row.checks >= MAX_CHECKS:
        raise TransferError(Failure.UNCHECKED)
    row.checks += 1
    update_active(row, checks=row.checks)
    try:
        read_model_file(path)
    except ModelFileError as error:
        raise TransferError(Failure.NOT_GGUF) from error
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def is_in_place(row: Download) -> bool:
    """Return whether the file is in place already, e.g. because the process was killed before the row was saved.

    Raise TransferError if a file of that name exists, but is not known to be this one.
    """
    path = open_folder() / row.file_name
    if not path.exists():
        return False
    wanted = row.sha256 or PinnedDigest.objects.filter(url=row.url).values_list("sha256", flat=True).first()
    if not wanted or check_file(row, path) != wanted:
        raise TransferError(Failure.NAME_TAKEN)
    return True


def update_active(row: Download, **fields: Any) -> None:
    """Save these fields of the row. Raise DownloadStoppedError if the download is no longer active."""
    if not Download.objects.filter(pk=row.pk, state=State.ACTIVE).update(**fields):
        raise DownloadStoppedError


def note_failure(row: Download, failure: Download.Failure, now: datetime, has_come: bool = False) -> None:
    """Save the failure in the row, with the time of the next attempt if there is one; delete a file that is useless."""
    attempts = 0 if has_come else row.attempts
    fields: dict[str, Any] = {"failure": failure, "attempts": attempts + 1}
    if failure in RETRIED and attempts < MAX_ATTEMPTS:
        fields["next_at"] = retry_at(attempts, now)
    else:
        fields["state"] = State.FAILED
    if failure in WORTHLESS:
        get_part_path(row.pk).unlink(missing_ok=True)
        fields |= {"received_bytes": 0, "total_bytes": None, "validator": ""}
    Download.objects.filter(pk=row.pk, state=State.ACTIVE).update(**fields)
    log.info("download_failed", download_id=row.pk, failure=failure.value, attempts=attempts + 1)
