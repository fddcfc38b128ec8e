"""What an operator does with downloads: start, pause, resume and remove them, and accept that a file has changed."""

import re
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from jobs.background import enqueue
from providers.downloads.models import Download, PinnedDigest
from providers.downloads.storage import choose_file_name, get_part_path, open_folder
from providers.engine.gguf import PART
from providers.http.guarded_http import OutboundError, parse_address

State = Download.State
SWEEP = "providers.downloads.tasks.resume_downloads"
SHA256 = re.compile(r"[0-9a-f]{64}\Z")
MAX_URL_CHARACTERS = 1000


class DownloadError(Exception):
    """A download cannot be started; the message is one sentence for the operator."""


def start_download(url: str, now: datetime, *, name: str = "", sha256: str = "") -> Download:
    """Start to fetch the file at the address. Raise DownloadError if that is not possible."""
    url, sha256 = _read_address(url), sha256.strip().lower()
    if sha256 and not SHA256.match(sha256):
        raise DownloadError(
            _("A SHA-256 has 64 characters, 0 to 9 and a to f. Copy it again, or leave the field empty.")
        )
    file_name = choose_file_name(url)
    if PART.fullmatch(file_name):
        raise DownloadError(
            _("This is one part of a model that comes in several files. Choose a model in a single file.")
        )
    try:
        with transaction.atomic():
            row: Download = Download.objects.create(
                url=url,
                name=name or file_name,
                file_name=file_name,
                sha256=sha256,
                next_at=now,
                created_at=now,
            )
            enqueue(SWEEP)
    except IntegrityError:
        raise DownloadError(_("This file, or another with the same name, is already in the list.")) from None
    return row


def pause_download(download_id: int) -> None:
    """Pause the download, keeping what has come. A task that is fetching it stops within seconds."""
    Download.objects.filter(pk=download_id, state=State.ACTIVE).update(state=State.PAUSED, failure="")


def resume_download(download_id: int, now: datetime) -> None:
    """Continue the download now, unless it is done, with its failed attempts and checks counted anew."""
    waiting = Download.objects.filter(pk=download_id).exclude(state=State.DONE)
    if waiting.update(state=State.ACTIVE, failure="", attempts=0, checks=0, next_at=now):
        enqueue(SWEEP)


@transaction.atomic
def remove_download(download_id: int) -> None:
    """Delete the row and the file, even if incomplete. The digest stays pinned. A task fetching it stops in seconds."""
    row = Download.objects.select_for_update().filter(pk=download_id).first()
    if row is None:
        return
    row.delete()
    get_part_path(download_id).unlink(missing_ok=True)
    if row.state == State.DONE:
        (open_folder() / row.file_name).unlink(missing_ok=True)


def accept_change(download_id: int, now: datetime) -> None:
    """If the download failed because its file had changed, delete the pinned digest and fetch the file as it is now."""
    row = Download.objects.filter(pk=download_id, failure=Download.Failure.PINNED).first()
    if row is not None:
        PinnedDigest.objects.filter(url=row.url).delete()
        resume_download(download_id, now)


def _read_address(text: str) -> str:
    """Return the address to request. Raise DownloadError if it may not be requested, or its query may hold a secret."""
    try:
        parts = parse_address(text.strip())
    except OutboundError as error:
        if error.code == "not_https":
            raise DownloadError(_("The address must begin with https://.")) from error
        raise DownloadError(Download.Failure.ADDRESS.label) from error
    if parts.query not in {None, "download=true"}:
        raise DownloadError(
            _(
                "What follows the ? in an address may be a key, and would be saved. Enter the file's plain address."
            )
        )
    url = str(parts._replace(query=None, fragment=None))
    if len(url) > MAX_URL_CHARACTERS:
        raise DownloadError(_("The address is too long."))
    return url
