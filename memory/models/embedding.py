import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _
from pgvector.django import VectorField

from accounts.models.owned import OwnedQuerySet
from memory.models.memory import Memory
from memory.models.space import Space


class EmbeddingQuerySet(OwnedQuerySet["Embedding"]):
    def of(self, companion_id: uuid.UUID, space: Space) -> "EmbeddingQuerySet":
        return self.filter(companion_id=companion_id, space=space)


class Embedding(models.Model):
    """The vector of a memory in a space; a long text has several, one a window."""

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="+")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="embeddings")
    space = models.ForeignKey(Space, models.CASCADE, related_name="embeddings")
    window = models.PositiveSmallIntegerField(_("window"), default=0)
    vector = VectorField()

    objects = EmbeddingQuerySet.as_manager()

    class Meta:
        verbose_name = _("embedding")
        verbose_name_plural = _("embeddings")
        constraints = [models.UniqueConstraint(fields=["memory", "space", "window"], name="embedding_unique")]
        indexes = [
            models.Index(
                fields=["companion", "space"], name="embedding_companion_space"
            ),  # recall by meaning
        ]

    def __str__(self) -> str:
        return f"{self.memory_id} in {self.space_id}"
