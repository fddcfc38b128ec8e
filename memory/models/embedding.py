from typing import Any

from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Case, F, Func, GeneratedField, IntegerField, When
from django.db.models.functions import Now
from django.db.models.lookups import GreaterThan
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from accounts.models.user import OwnedQuerySet
from memory.models.memory import Memory
from providers.embedding.embedder import EmbeddingProfile

MAX_WIDTH = 16_000  # pgvector's own limit


class Space(models.Model):
    """An embedding space: vectors that are comparable with each other, and with no others.

    It is told by its model, the manner in which that is asked (prefixes and extra fields of a request), and its edition:
    where all is embedded again by the same model, the next edition is another space. Its width is what its server
    answered first. `answered_width` is another in which it answered since, with nothing of that kept.
    """

    model = models.CharField(_("model"), max_length=200)
    width = models.PositiveIntegerField(_("width"), validators=[MaxValueValidator(MAX_WIDTH)])
    query_prefix = models.CharField(_("query prefix"), max_length=200, blank=True)
    document_prefix = models.CharField(_("document prefix"), max_length=200, blank=True)
    query_fields = models.JSONField(_("extra fields of a query"), default=dict, blank=True)
    document_fields = models.JSONField(_("extra fields of a document"), default=dict, blank=True)
    edition = models.PositiveIntegerField(_("edition"), default=1)
    max_tokens = models.PositiveIntegerField(_("most tokens at once"))
    created_at = models.DateTimeField(_("made"), auto_now_add=True)
    answered_width = models.PositiveIntegerField(_("wrong width answered"), null=True, blank=True)
    answered_at = models.DateTimeField(_("wrong width since"), null=True, blank=True)
    everyday = models.BinaryField(default=b"", editable=False)  # means of sentences (memory.embedding.spaces)

    class Meta:
        verbose_name = _("embedding space")
        verbose_name_plural = _("embedding spaces")
        constraints = [
            models.UniqueConstraint(
                fields=[
                    *("model", "query_prefix", "document_prefix", "query_fields", "document_fields"),
                    "edition",
                ],
                name="space_told_by_model_and_manner",
            ),
            models.CheckConstraint(
                condition=models.Q(width__range=(1, MAX_WIDTH)), name="space_width_1_to_16000"
            ),
        ]

    def __str__(self) -> str:
        edition = f", {self.edition}" if self.edition > 1 else ""
        return f"{self.model} ({self.width}{edition})"

    @property
    def profile(self) -> EmbeddingProfile:
        return EmbeddingProfile(
            self.query_prefix, self.document_prefix, self.query_fields, self.document_fields
        )

    def note_wrong_width(self, width: int) -> bool:
        """Keep that its server answered so wide; return whether that is news."""
        mine = Space.objects.filter(pk=self.pk).exclude(answered_width=width)
        self.answered_width = width
        return bool(mine.update(answered_width=width, answered_at=Now()))

    def note_right_width(self) -> None:
        """Keep that its server answers as it should (again)."""
        if self.answered_width is not None:
            self.answered_width = self.answered_at = None
            self.save(update_fields=["answered_width", "answered_at"])


MAX_SCANNED = 2000  # wider vectors are compared by their bits first


class BitsField(models.Field):  # type: ignore[type-arg]
    """A string of bits of any length."""

    def db_type(self, connection: Any) -> str:
        return "bit varying"


class Embedding(models.Model):
    """The vector of a memory in a space; a long text has several, one a window.

    Without a vector it says that the space's embedder refused the text, which is not asked for again. `bits` are the
    signs of a wide vector's numbers, kept by the database itself.
    """

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="+")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="embeddings")
    space = models.ForeignKey(Space, models.CASCADE, related_name="embeddings")
    window = models.PositiveSmallIntegerField(_("window"), default=0)
    vector = VectorField(null=True)
    bits = GeneratedField(
        expression=Case(
            When(
                GreaterThan(
                    Func(F("vector"), function="vector_dims", output_field=IntegerField()), MAX_SCANNED
                ),
                then=Func(F("vector"), function="binary_quantize", output_field=BitsField()),
            ),
        ),
        output_field=BitsField(null=True),
        db_persist=True,
    )

    objects = OwnedQuerySet["Embedding"].as_manager()

    class Meta:
        verbose_name = _("embedding")
        verbose_name_plural = _("embeddings")
        constraints = [models.UniqueConstraint(fields=["memory", "space", "window"], name="embedding_unique")]
        indexes = [
            # Recall by meaning; how many memories have one.
            models.Index(fields=["companion", "space", "window"], name="embedding_companion_space"),
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.space_id}"
