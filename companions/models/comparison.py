import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.prompt import Prompt


class Comparison(models.Model):
    """A comparison of two models: the newest exchanges of a talk, answered anew by the companion's own and by another.

    Its answers never go into the talk, memory, or any prompt. `report` holds numbers only. No worker goes on with the
    comparison before `next_at`.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.OneToOneField(Companion, models.CASCADE, related_name="comparison")
    own_model = models.CharField(_("own model"), max_length=200)
    other_model = models.CharField(_("other model"), max_length=200)
    report = models.JSONField(_("report"), default=dict, blank=True)
    error = models.CharField(_("error"), max_length=40, blank=True)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    next_at = models.DateTimeField(_("continues at"), null=True, blank=True)
    created_at = models.DateTimeField(_("requested"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = OwnedQuerySet["Comparison"].as_manager()

    class Meta:
        verbose_name = _("comparison of models")
        verbose_name_plural = _("comparisons of models")
        indexes = [
            # The sweep.
            models.Index(fields=["next_at"], condition=models.Q(ended_at=None), name="comparison_open"),
        ]

    def __str__(self) -> str:
        return f"{self.own_model} / {self.other_model}"


class ComparedExchangeQuerySet(OwnedQuerySet["ComparedExchange"]):
    owner = "comparison__companion__user"

    def unanswered(self) -> "ComparedExchangeQuerySet":
        return self.filter(models.Q(own_text=None) | models.Q(other_text=None))


class ComparedExchange(models.Model):
    """A stored prompt of a reply, and the answer of each model to it (None until that model has answered).

    Deleted with the prompt, i.e. when that is too old, or when something in it is deleted.
    """

    comparison = models.ForeignKey(Comparison, models.CASCADE, related_name="exchanges")
    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="+")
    own_text = models.TextField(_("own model's answer"), null=True, blank=True)  # noqa: DJ001 (None is not answered yet)
    other_text = models.TextField(_("other model's answer"), null=True, blank=True)  # noqa: DJ001
    # Each as {"at", "emotion", "intensity"}; `at` is the offset in the text from which it holds.
    own_emotions = models.JSONField(_("own model's emotions"), default=list, blank=True)
    other_emotions = models.JSONField(_("other model's emotions"), default=list, blank=True)

    objects = ComparedExchangeQuerySet.as_manager()

    class Meta:
        verbose_name = _("compared exchange")
        verbose_name_plural = _("compared exchanges")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["comparison", "prompt"], name="compared_exchange_once"),
        ]

    def __str__(self) -> str:
        return f"{self.comparison_id} / {self.prompt_id}"
