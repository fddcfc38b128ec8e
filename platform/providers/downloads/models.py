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
        SLOW = "slow", _("The server sends hardly anything. What has come is kept.")
        UNREACHABLE = "unreachable", _("The server cannot be reached, or broke off. What has come is kept.")
        BROKEN = "broken", _("The server is busy or broken. What has come is kept.")
        CHANGED = "changed", _("The file at the server changed meanwhile. It begins anew.")
        ADDRESS = "address", _("This address cannot be asked. It must begin with https:// and name no port.")
        PRIVATE = (
            "private",
            _(
                "The address is not on the open Internet. For a server of your own, set KITH_OUTBOUND_ALLOWED."
            ),
        )
        REDIRECT = (
            "redirect",
            _(
                "The server sends on to where Kith does not go: too often, unencrypted, or into a network of yours."
            ),
        )
        MISSING = "missing", _("There is no such file at the server. Look the address up again.")
        DENIED = (
            "denied",
            _(
                "The server wants a login or a licence accepted. Fetch it in a browser, and copy it to the folder."
            ),
        )
        REFUSED = "refused", _("The server refused the request.")
        HTML = "html", _("The address gave a web page, no file. That of the file itself ends in .gguf.")
        NOT_GGUF = "not_gguf", _("What came is no whole model in GGUF, and was removed.")
        UNCHECKED = (
            "unchecked",
            _(
                "Its check broke off three times, as where memory runs out. What has come is kept: go on where you trust"
                " it, or remove it."
            ),
        )
        CHECKSUM = (
            "checksum",
            _("The file is not the one that was promised: its checksum differs. It was removed."),
        )
        PINNED = (
            "pinned",
            _("The file is not the one that this address gave before: its checksum differs. It was removed."),
        )
        TOO_LARGE = "too_large", _("The file is larger than KITH_DOWNLOAD_MB allows.")
        DISK_FULL = "disk_full", _("The disk is full. What has come is kept: free some space, and go on.")
        NOT_WRITABLE = "not_writable", _("Kith cannot write to its models folder.")
        NAME_TAKEN = "name_taken", _("Another file of this name lies in the models folder.")

    name = models.CharField(_("name"), max_length=200)
    url = models.CharField(_("address"), max_length=1000, unique=True)
    file_name = models.CharField(_("file"), max_length=200, unique=True)
    sha256 = models.CharField("SHA-256", max_length=64, blank=True)
    validator = models.CharField(_("version at the server"), max_length=300, blank=True)
    total_bytes = models.PositiveBigIntegerField(_("size"), null=True, blank=True)
    received_bytes = models.PositiveBigIntegerField(_("received"), default=0)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.ACTIVE)
    failure = models.CharField(_("last error"), max_length=16, choices=Failure, blank=True)
    attempts = models.PositiveIntegerField(_("failed attempts"), default=0)
    checks = models.PositiveIntegerField(_("checks begun"), default=0)
    next_at = models.DateTimeField(_("goes on at"), default=timezone.now)
    created_at = models.DateTimeField(_("begun"), default=timezone.now)

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
