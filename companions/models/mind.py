from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from providers.models import MAX_CONTEXT_TOKENS, MIN_CONTEXT_TOKENS
from providers.selection import Preference


class Mind(models.Model):
    """Which model speaks for a companion, how it samples, and whether another may stand in while it is unavailable.

    `model` is the name, as requests give it, of the model that gave the first answer or was chosen since; empty before.
    No other model answers instead unless `allows_stand_in`. `prompt_version` is that of Kith's prompts at the same
    time. If the operator offers another model, the person is asked about it until they take it, unless it is
    `declined_model` or `asks_again_at` is in the future. `sampling` holds the fields of
    `providers.chat.sampling.Sampling` that override the preset's or, without a preset, the installation's.
    """

    companion = models.OneToOneField(Companion, models.CASCADE, primary_key=True, related_name="mind")
    model = models.CharField(_("model for conversations"), max_length=200, blank=True)
    prompt_version = models.CharField(_("version of the prompts"), max_length=20, blank=True)
    background_model = models.CharField(_("model for background work"), max_length=200, blank=True)
    allows_stand_in = models.BooleanField(
        _("another model may stand in while it is unavailable"), default=False
    )
    declined_model = models.CharField(_("model that was declined"), max_length=200, blank=True)
    asks_again_at = models.DateTimeField(_("asks again at"), null=True, blank=True)
    preset = models.CharField(_("preset"), max_length=40, blank=True)
    sampling = models.JSONField(_("sampling values"), default=dict, blank=True)
    context_tokens = models.PositiveIntegerField(
        _("context tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(MIN_CONTEXT_TOKENS), MaxValueValidator(MAX_CONTEXT_TOKENS)],
        help_text=_("Use at most this much of the model's context. Empty: all of it"),
    )

    objects = OwnedQuerySet["Mind"].as_manager()

    class Meta:
        verbose_name = _("mind")
        verbose_name_plural = _("minds")

    def __str__(self) -> str:
        return f"{self.companion}: {self.model}"

    @property
    def preference(self) -> Preference:
        """The models that the companion prefers, and the context limit."""
        return Preference(self.model, self.background_model, self.context_tokens)
