import uuid

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.owned import OwnedQuerySet


class MemoryQuerySet(OwnedQuerySet["Memory"]):
    def of(self, companion_id: uuid.UUID) -> "MemoryQuerySet":
        return self.filter(companion_id=companion_id)

    def open(self) -> "MemoryQuerySet":
        """Those that still hold: not closed by what replaced them."""
        return self.filter(closed_at=None)


class Memory(models.Model):
    """One remembered thing of one companion: what, of which kind, when it happened, and from which messages it comes."""

    class Kind(models.TextChoices):
        SAID = "said", _("said")
        FACT = "fact", _("fact")

    class Speaker(models.TextChoices):
        USER = "user", _("user")
        COMPANION = "companion", _("companion")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="memories")
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    text = models.TextField(_("text"))
    speaker = models.CharField(_("said by"), max_length=16, choices=Speaker, blank=True)
    happened_at = models.DateTimeField(_("when it happened"))
    learnt_at = models.DateTimeField(_("when it was learnt"))
    edited_at = models.DateTimeField(_("corrected"), null=True, blank=True)
    closed_at = models.DateTimeField(_("held until"), null=True, blank=True)
    replaced_by = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="replaces")
    is_pinned = models.BooleanField(_("pinned"), default=False)
    message = models.OneToOneField(
        "companions.Message",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="memory",
        verbose_name=_("message"),
    )
    sources = models.ManyToManyField("companions.Message", blank=True, related_name="derived_memories")
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")
    terms = ArrayField(models.TextField(), default=list, editable=False)

    objects = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        ordering = ["-happened_at", "-id"]
        indexes = [
            models.Index(
                fields=["companion", "-happened_at", "-id"], name="memory_companion_time"
            ),  # the list
            GinIndex(fields=["terms"], name="memory_terms"),  # recall by words
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(message=None) | models.Q(kind="said"), name="memory_of_a_message_is_said"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"
