from django.db import models
from django.utils.translation import gettext_lazy as _


class Space(models.Model):
    """An embedding space: vectors of one model and width, comparable only with each other."""

    model = models.CharField(_("model"), max_length=200)
    width = models.PositiveIntegerField(_("width"))
    query_prefix = models.CharField(_("query prefix"), max_length=200, blank=True)
    document_prefix = models.CharField(_("document prefix"), max_length=200, blank=True)
    max_tokens = models.PositiveIntegerField(_("most tokens at once"))
    created_at = models.DateTimeField(_("made"), auto_now_add=True)

    class Meta:
        verbose_name = _("embedding space")
        verbose_name_plural = _("embedding spaces")
        constraints = [
            models.UniqueConstraint(
                fields=["model", "width", "query_prefix", "document_prefix"], name="space_unique"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} ({self.width})"
