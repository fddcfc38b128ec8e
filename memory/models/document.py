import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from memory.models.memory import Memory

TITLE_CHARACTERS = 200


class Document(models.Model):
    """A long text that was given to a companion, split into pages. Joined, they are the text unless one was deleted."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="documents")
    title = models.CharField(_("title"), max_length=TITLE_CHARACTERS)
    characters = models.PositiveIntegerField(_("characters"))
    error = models.CharField(_("error"), max_length=40, blank=True)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    next_at = models.DateTimeField(_("next attempt"), null=True, blank=True)
    given_at = models.DateTimeField(_("uploaded"))

    objects = OwnedQuerySet["Document"].as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ["-given_at"]
        # The list.
        indexes = [models.Index(fields=["companion", "-given_at"], name="document_companion_time")]

    def __str__(self) -> str:
        return f"{self.pk}"


class PageQuerySet(OwnedQuerySet["Page"]):
    def waiting(self) -> "PageQuerySet":
        """Return the pages whose gist is still to be written."""
        return self.filter(gist="").exclude(text="")


class Page(models.Model):
    """One page of a document. `gist` is empty until a model has written it; then `memory` mirrors it.

    A page whose gist was deleted has an empty text.
    """

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="+")
    document = models.ForeignKey(Document, models.CASCADE, related_name="pages")
    number = models.PositiveIntegerField(_("number"))
    text = models.TextField(_("text"))
    gist = models.TextField(_("gist"), blank=True)
    memory = models.OneToOneField(Memory, models.SET_NULL, null=True, related_name="page")
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")

    objects = PageQuerySet.as_manager()

    class Meta:
        verbose_name = _("page")
        verbose_name_plural = _("pages")
        ordering = ["document", "number"]
        constraints = [models.UniqueConstraint(fields=["document", "number"], name="page_number_unique")]
        # The sweep.
        indexes = [models.Index(fields=["document"], condition=models.Q(gist=""), name="page_without_gist")]

    def __str__(self) -> str:
        return f"{self.document_id} / {self.number}"

    @property
    def is_deleted(self) -> bool:
        return not self.text
