import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from memory.models.memory import Memory


class ConsolidationQuerySet(OwnedQuerySet["Consolidation"]):
    def unmended(self) -> "ConsolidationQuerySet":
        """Filter to the failed nights that no later night of the same companion has made up for."""
        later = Consolidation.objects.filter(
            companion=models.OuterRef("companion"),
            night_of__gt=models.OuterRef("night_of"),
            state=Consolidation.State.DONE,
        )
        return self.filter(~models.Exists(later), state=Consolidation.State.FAILED)

    def with_newest(self) -> "ConsolidationQuerySet":
        """Annotate each night with `is_newest`: whether its companion has no later one."""
        return self.annotate(is_newest=is_newest())

    def retryable(self) -> "ConsolidationQuerySet":
        """Filter to the failed nights that are the newest of their companion: a later one looks at the same memories."""
        return self.filter(is_newest(), state=Consolidation.State.FAILED)


def is_newest() -> models.Expression:
    """Return the condition that a night's companion has no later one."""
    companion, night_of = models.OuterRef("companion"), models.OuterRef("night_of")
    return ~models.Exists(Consolidation.objects.filter(companion=companion, night_of__gt=night_of))


class Consolidation(models.Model):
    """One night's work on a companion's memories; its changes say what it did. Until it ends, `draft` holds what a
    model has answered so far.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="consolidations")
    night_of = models.DateField(_("night of"))
    asked_at = models.DateTimeField(_("requested"))
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.WAITING)
    draft = models.JSONField(_("draft"), default=dict, blank=True)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    next_at = models.DateTimeField(_("next attempt"))
    error = models.CharField(_("error"), max_length=40, blank=True)
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = ConsolidationQuerySet.as_manager()

    class Meta:
        verbose_name = _("consolidation")
        verbose_name_plural = _("consolidations")
        ordering = ["-night_of"]
        constraints = [
            models.UniqueConstraint(fields=["companion", "night_of"], name="consolidation_once_a_night")
        ]
        # The sweep.
        indexes = [
            models.Index(fields=["next_at"], condition=models.Q(state="waiting"), name="consolidation_due")
        ]

    def __str__(self) -> str:
        return f"{self.night_of}"


class Change(models.Model):
    """One thing that a consolidation run did, and what undoing it needs.

    `memory` is the result and `others` are what it came from; `before` holds numbers and ids, never anybody's words.
    Of a contradiction, `memory` is A and the other memory B; the person may settle which of them holds.
    """

    class Kind(models.TextChoices):
        MERGED = "merged", _("merged")
        CONTRADICTION = "contradiction", _("contradiction")
        INSIGHT = "insight", _("insight")
        REVIEWED = "reviewed", _("reviewed")

    class Settled(models.TextChoices):
        A = "a", _("the first is true")
        B = "b", _("the second is true")
        BOTH = "both", _("both are true")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="+")
    consolidation = models.ForeignKey(Consolidation, models.CASCADE, related_name="changes")
    number = models.PositiveSmallIntegerField(_("number"))
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="+")
    others = models.ManyToManyField(Memory, blank=True, related_name="+")
    before = models.JSONField(_("before"), default=dict)
    settled = models.CharField(_("settled"), max_length=8, choices=Settled, blank=True)
    undone_at = models.DateTimeField(_("undone"), null=True, blank=True)

    objects = OwnedQuerySet["Change"].as_manager()

    class Meta:
        verbose_name = _("change")
        verbose_name_plural = _("changes")
        ordering = ["consolidation", "number"]
        constraints = [
            models.UniqueConstraint(fields=["consolidation", "number"], name="change_number_unique")
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.memory_id}"

    @property
    def is_open(self) -> bool:
        """Whether this is a contradiction still to be settled, of two memories that both still hold."""
        both = [self.memory, *self.others.all()]
        if self.kind != self.Kind.CONTRADICTION or self.settled or self.undone_at:
            return False
        return len(both) == 2 and all(memory.closed_at is None for memory in both)
