import uuid
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.models.user import OwnedQuerySet, UserOwnedQuerySet
from companions.models.companion import Companion
from files.models import StoredFile


class Card(models.Model):
    """The character card that a companion came from: what of it Kith does not use is kept for the day it leaves.

    `content` is the card in the form of V3, whatever it came as, without the texts that the companion has fields for, and
    without its lorebook. `assets` are what files came with it, as one ZIP.
    """

    companion = models.OneToOneField(Companion, models.CASCADE, primary_key=True, related_name="card")
    content = models.JSONField(_("content"), default=dict)
    sha256 = models.CharField(_("digest of the file"), max_length=64, blank=True)
    assets = models.OneToOneField(
        StoredFile, models.SET_NULL, null=True, blank=True, related_name="assets_of", verbose_name=_("assets")
    )
    created_at = models.DateTimeField(_("came"))

    objects = OwnedQuerySet["Card"].as_manager()

    class Meta:
        verbose_name = _("card")
        verbose_name_plural = _("cards")

    def __str__(self) -> str:
        return str(self.companion)

    @property
    def data(self) -> dict[str, Any]:
        """The card's own fields."""
        data: dict[str, Any] = self.content.get("data", {})
        return data


class CardUpload(models.Model):
    """A card that somebody looks at, and may make a companion of within a day."""

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
    sha256 = models.CharField(_("digest of the file"), max_length=64)
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
    created_at = models.DateTimeField(_("given"))

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("uploaded card")
        verbose_name_plural = _("uploaded cards")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["created_at"], name="card_upload_age")]  # dropping what is old

    def __str__(self) -> str:
        return f"{self.form} {self.created_at:%Y-%m-%d %H:%M}"
