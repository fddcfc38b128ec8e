import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion


class Job(models.Model):
    """Longer work requested through the API. Its progress is read from the rows that it works on."""

    class Kind(models.TextChoices):
        IMPORT_LOG = "import_log", _("import of a log")
        IMPORT_PAST = "import_past", _("import of a past")
        CLOSE = "close", _("closing of a session")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="jobs")
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    total = models.PositiveIntegerField(_("total"), default=0)
    error = models.TextField(_("error"), blank=True)
    created_at = models.DateTimeField(_("requested"), auto_now_add=True)

    objects = OwnedQuerySet["Job"].as_manager()

    class Meta:
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
