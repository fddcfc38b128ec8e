import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import User
from accounts.models.user import UserOwnedQuerySet


class StoredFile(models.Model):
    """A user's binary file, whose content is in the private storage under a random key.

    The content is stored before its row; contents without a row are swept.
    """

    class Kind(models.TextChoices):
        SPEECH = "speech", _("speech")
        RECORDING = "recording", _("recording")
        REFERENCE = "reference", _("reference recording")
        PICTURE = "picture", _("picture")
        ATTACHMENT = "attachment", _("attachment")
        CARD = "card", _("picture of a card")
        GALLERY = "gallery", _("picture of a published character")
        PAST = "past", _("earlier talk")
        ARCHIVE = "archive", _("archive of a companion")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="files", verbose_name=_("user"))
    companion = models.ForeignKey(
        "companions.Companion", models.CASCADE, null=True, blank=True, related_name="files"
    )
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    key = models.CharField(_("name in the storage"), max_length=200, unique=True)
    content_type = models.CharField(_("content type"), max_length=80)
    bytes = models.PositiveBigIntegerField(_("bytes"))
    sha256 = models.CharField(max_length=64)
    seconds = models.FloatField(_("seconds"), null=True, blank=True)
    width = models.PositiveIntegerField(pgettext_lazy("of a picture", "width"), null=True, blank=True)
    height = models.PositiveIntegerField(_("height"), null=True, blank=True)
    created_at = models.DateTimeField(_("stored"))
    missed_at = models.DateTimeField(_("content missing since"), null=True, blank=True, editable=False)

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("file")
        verbose_name_plural = _("files")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["user", "-created_at"], name="file_user_time"),  # the quota, a user's files
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
