import uuid

from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.message import Message
from files.models import StoredFile
from memory.models import Document


class Attachment(models.Model):
    """A file attached to a message: either a picture (`file`) or a text that the companion reads (`document`).

    `message` is None until the message is sent; `name` is the file's name. If a message is edited, the new version gets
    copies of its attachments.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="attachments")
    message = models.ForeignKey(
        Message, models.CASCADE, null=True, blank=True, related_name="attachments", verbose_name=_("message")
    )
    file = models.ForeignKey(StoredFile, models.CASCADE, null=True, blank=True, related_name="attachments")
    document = models.ForeignKey(
        Document,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="attachments",
        verbose_name=_("document"),
    )
    name = models.CharField(_("name"), max_length=120)
    created_at = models.DateTimeField(_("uploaded"))

    objects = OwnedQuerySet["Attachment"].as_manager()

    class Meta:
        verbose_name = _("attachment")
        verbose_name_plural = _("attachments")
        ordering = ["created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(file=None, document__isnull=False)
                | models.Q(file__isnull=False, document=None),
                name="attachment_file_or_document",
            ),
        ]
        indexes = [
            models.Index(fields=["companion", "-created_at"], name="attachment_companion_time"),  # the list
            models.Index(  # the sweep of attachments that were never sent
                fields=["created_at"], condition=models.Q(message=None), name="attachment_not_sent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.created_at:%Y-%m-%d %H:%M}"

    @property
    def url(self) -> str:
        """The URL of the picture itself, or of the document's page."""
        if self.file_id:
            return reverse("file", args=[self.file_id])
        return reverse("document", args=[self.companion_id, self.document_id])
