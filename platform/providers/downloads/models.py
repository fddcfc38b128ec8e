"""Downloads of model files, and the digests by which a file is recognised when it is fetched again."""

from typing import Any

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from providers.downloads.storage import open_folder


class Download(models.Model):
    """The download of a model file, which lies in the models folder as `file_name` once it is done.

    `received_bytes` are safely on the disk; `validator` is the version of the file that they belong to, an ETag or a
    date. `sha256` is the file's expected digest, or empty if it is not known beforehand.
    """

    class State(models.TextChoices):
        ACTIVE = "active", _("under way")
        PAUSED = "paused", _("paused")
        FAILED = "failed", _("failed")
        DONE = "done", _("done")

    class Failure(models.TextChoices):
        SLOW = "slow", _("The server sends almost nothing. What was downloaded is kept.")
        UNREACHABLE = (
            "unreachable",
            _("The server cannot be reached, or the connection broke. What was downloaded is kept."),
        )
        BROKEN = "broken", _("The server is busy or has an error. What was downloaded is kept.")
        CHANGED = "changed", _("The file on the server has changed. The download starts again.")
        ADDRESS = "address", _("This address cannot be used. It must begin with https:// and have no port.")
        PRIVATE = (
            "private",
            _(
                "The address is not on the public Internet. To use a server of your own, set KITH_OUTBOUND_ALLOWED."
            ),
        )
        REDIRECT = (
            "redirect",
            _(
                "The server redirects in a way that Kith does not follow: too often, unencrypted, or into a private"
                " network."
            ),
        )
        MISSING = "missing", _("There is no such file on the server. Check the address.")
        DENIED = (
            "denied",
            _(
                "The server requires a login, or accepting a licence. Download the file in a browser, and copy it"
                " to the folder."
            ),
        )
        REFUSED = "refused", _("The server refused the request.")
        HTML = "html", _("The address returned a web page, not a file. The file's own address ends in .gguf.")
        NOT_GGUF = "not_gguf", _("The downloaded file is not a complete GGUF model, and was removed.")
        UNCHECKED = (
            "unchecked",
            _(
                "Checking the file failed three times, perhaps because memory ran out. It is kept: continue if you"
                " trust it, or remove it."
            ),
        )
        CHECKSUM = (
            "checksum",
            _("This is not the expected file: its checksum differs. It was removed."),
        )
        PINNED = (
            "pinned",
            _("This is not the file that the address returned before: its checksum differs. It was removed."),
        )
        TOO_LARGE = "too_large", _("The file is larger than KITH_DOWNLOAD_MB allows.")
        DISK_FULL = (
            "disk_full",
            _("The disk is full. What was downloaded is kept: free some space, then continue."),
        )
        NOT_WRITABLE = "not_writable", _("Kith cannot write to its models folder.")
        NAME_TAKEN = "name_taken", _("Another file with this name is in the models folder.")

    name = models.CharField(_("name"), max_length=200)
    url = models.CharField(_("address"), max_length=1000, unique=True)
    file_name = models.CharField(_("file"), max_length=200, unique=True)
    sha256 = models.CharField("SHA-256", max_length=64, blank=True)
    validator = models.CharField(_("version on the server"), max_length=300, blank=True)
    total_bytes = models.PositiveBigIntegerField(_("size"), null=True, blank=True)
    received_bytes = models.PositiveBigIntegerField(_("received"), default=0)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.ACTIVE)
    failure = models.CharField(_("last error"), max_length=16, choices=Failure, blank=True)
    attempts = models.PositiveIntegerField(_("failed attempts"), default=0)
    checks = models.PositiveIntegerField(_("checks started"), default=0)
    next_at = models.DateTimeField(_("continues at"), default=timezone.now)
    created_at = models.DateTimeField(_("started"), default=timezone.now)

    objects: Any = models.Manager()

    class Meta:
        verbose_name = _("download")
        verbose_name_plural = _("downloads")
        ordering = ["pk"]

    def __str__(self) -> str:
        return self.name

    @property
    def is_received(self) -> bool:
        """Return whether the whole file has come; until the download is done, it is then being checked."""
        return self.total_bytes is not None and self.received_bytes >= self.total_bytes

    @property
    def is_missing(self) -> bool:
        """Return whether the download is done, but its file no longer exists."""
        return self.state == self.State.DONE and not (open_folder() / self.file_name).exists()


class PinnedDigest(models.Model):
    """The SHA-256 of the first file from an address for which none was given; a different one from there is refused."""

    url = models.CharField(_("address"), max_length=1000, unique=True)
    sha256 = models.CharField("SHA-256", max_length=64)
    pinned_at = models.DateTimeField(_("pinned"), default=timezone.now)

    objects: Any = models.Manager()

    class Meta:
        verbose_name = _("pinned checksum")
        verbose_name_plural = _("pinned checksums")

    def __str__(self) -> str:
        return self.url
