import uuid

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.models.user import UserOwnedQuerySet
from companions.models.companion import Companion
from files.models import StoredFile


class ArchiveUpload(models.Model):
    """An uploaded archive, which its owner may look at and have restored by a worker.

    `manifest` is the archive's description of itself. `look_at` is the worker's lease: until then no other worker
    tries. The file is deleted once it is restored or refused. `companion` is set when the restore has succeeded.
    """

    class State(models.TextChoices):
        KEPT = "kept", _("previewed")
        WAITING = "waiting", _("waiting")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="archive_uploads", verbose_name=_("user"))
    file = models.OneToOneField(
        StoredFile,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="archive_upload",
        verbose_name=_("file"),
    )
    manifest = models.JSONField(_("manifest"), default=dict)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.KEPT)
    done = models.PositiveIntegerField(_("rows restored"), default=0)
    total = models.PositiveIntegerField(_("rows"), default=0)
    remarks = models.JSONField(_("remarks"), default=list, blank=True)
    code = models.CharField(_("error"), max_length=40, blank=True)
    error = models.TextField(_("reason"), blank=True)
    companion = models.ForeignKey(
        Companion,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("companion"),
    )
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=0)
    look_at = models.DateTimeField(_("next attempt"), null=True, blank=True)
    created_at = models.DateTimeField(_("uploaded"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("uploaded archive")
        verbose_name_plural = _("uploaded archives")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["created_at"], name="archive_upload_age"),  # deletion of old uploads
            models.Index(  # the sweep
                fields=["look_at"], condition=models.Q(state="waiting"), name="archive_upload_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} {localtime(self.created_at):%Y-%m-%d %H:%M}"
