from typing import Any

from django.db import models
from django.db.models import Case, F, Func, GeneratedField, IntegerField, When
from django.db.models.lookups import GreaterThan
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from accounts.models.owned import OwnedQuerySet
from memory.models.memory import Memory
from memory.models.space import Space

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
            models.Index(
                fields=["companion", "space", "window"], name="embedding_companion_space"
            ),  # recall by meaning; how many memories have one
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.space_id}"
