import uuid
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.models.user import OwnedQuerySet, UserOwnedQuerySet
from companions.models.companion import Companion
from files.models import StoredFile


class Card(models.Model):
    """The character card that a companion was made from. What Kith does not use of it is kept for a later export.

    `content` is the card in V3 form, whatever its original version, without its lorebook and without the texts that the
    companion has fields for. `assets` is a ZIP of the files that came with the card.
    """

    companion = models.OneToOneField(Companion, models.CASCADE, primary_key=True, related_name="card")
    content = models.JSONField(_("content"), default=dict)
    sha256 = models.CharField(_("checksum of the file"), max_length=64, blank=True)
    assets = models.OneToOneField(
        StoredFile, models.SET_NULL, null=True, blank=True, related_name="assets_of", verbose_name=_("assets")
    )
    created_at = models.DateTimeField(_("received"))

    objects = OwnedQuerySet["Card"].as_manager()

    class Meta:
        verbose_name = _("card")
        verbose_name_plural = _("cards")

    def __str__(self) -> str:
        return str(self.companion)

    @property
    def data(self) -> dict[str, Any]:
        """The card's fields: the `data` object of the V3 form."""
        data: dict[str, Any] = self.content.get("data", {})
        return data


class CardUpload(models.Model):
    """An uploaded card or lorebook, kept for a day while the user looks at it and may use it."""

    class Form(models.TextChoices):
        JSON = "json", "JSON"
        PNG = "png", "PNG"
        CHARX = "charx", "CHARX"
        LOREBOOK = "lorebook", _("lorebook")

    class Version(models.TextChoices):
        V1 = "1", "1"
        V2 = "2", "2"
        V3 = "3", "3"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="card_uploads", verbose_name=_("user"))
    content = models.JSONField(_("content"))
    form = models.CharField(_("form"), max_length=16, choices=Form)
    version = models.CharField(_("version"), max_length=8, choices=Version)
    remarks = models.JSONField(_("remarks"), default=list, blank=True)
    sha256 = models.CharField(_("checksum of the file"), max_length=64)
    picture = models.OneToOneField(
        StoredFile,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="card_upload",
        verbose_name=_("picture"),
    )
    assets = models.OneToOneField(
        StoredFile,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="uploaded_assets_of",
        verbose_name=_("assets"),
    )
    created_at = models.DateTimeField(_("uploaded"))

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("uploaded card")
        verbose_name_plural = _("uploaded cards")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["created_at"], name="card_upload_age")]  # deletion of old uploads

    def __str__(self) -> str:
        return f"{self.form} {self.created_at:%Y-%m-%d %H:%M}"
