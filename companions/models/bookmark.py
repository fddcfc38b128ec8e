import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.message import Message


class Bookmark(models.Model):
    """A message that the person marked to find it again."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="bookmarks")
    message = models.OneToOneField(
        Message, models.CASCADE, related_name="bookmark", verbose_name=_("message")
    )
    made_at = models.DateTimeField(_("created"))

    objects = OwnedQuerySet["Bookmark"].as_manager()

    class Meta:
        verbose_name = _("bookmark")
        verbose_name_plural = _("bookmarks")
        ordering = ["-made_at", "-id"]
        indexes = [  # the list
            models.Index(fields=["companion", "-made_at", "-id"], name="bookmark_companion_time")
        ]

    def __str__(self) -> str:
        return f"{self.made_at:%Y-%m-%d %H:%M}"
