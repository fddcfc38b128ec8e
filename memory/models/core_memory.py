"""Core memory, which is always in the prompt: slots, each a named fact, and blocks, each a named text."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet

MAX_SLOTS = 100
SLOT_CHARACTERS = 200
MAX_BLOCKS = 20
BLOCK_CHARACTERS = 2000


class By(models.TextChoices):
    """Who wrote a slot or block last."""

    COMPANION = "companion", _("companion")
    USER = "user", _("user")
    OPERATOR = "operator", _("operator")


class Slot(models.Model):
    """A named fact that is always in the prompt: at most 200 characters, and at most 100 slots per companion."""

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="slots")
    name = models.CharField(_("name"), max_length=60)
    text = models.CharField(_("text"), max_length=SLOT_CHARACTERS)
    by = models.CharField(_("written by"), max_length=16, choices=By)
    sources = models.ManyToManyField("companions.Message", blank=True, related_name="+")
    changed_at = models.DateTimeField(_("changed"))

    objects = OwnedQuerySet["Slot"].as_manager()

    class Meta:
        verbose_name = _("slot")
        verbose_name_plural = _("slots")
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["companion", "name"], name="slot_name_unique")]

    def __str__(self) -> str:
        return f"{self.companion_id} / {self.pk}"


class Block(models.Model):
    """A named text that is always in the prompt and that its companion may write on, unless it is read-only."""

    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="blocks")
    name = models.CharField(_("name"), max_length=60)
    description = models.CharField(_("what it is for"), max_length=200, blank=True)
    text = models.TextField(_("text"), blank=True)
    most_characters = models.PositiveIntegerField(_("maximum length in characters"), default=BLOCK_CHARACTERS)
    is_read_only = models.BooleanField(_("read-only for the companion"), default=False)
    by = models.CharField(_("written by"), max_length=16, choices=By)
    sources = models.ManyToManyField("companions.Message", blank=True, related_name="+")
    changed_at = models.DateTimeField(_("changed"))

    objects = OwnedQuerySet["Block"].as_manager()

    class Meta:
        verbose_name = _("block")
        verbose_name_plural = _("blocks")
        ordering = ["name"]
        constraints = [models.UniqueConstraint(fields=["companion", "name"], name="block_name_unique")]

    def __str__(self) -> str:
        return f"{self.companion_id} / {self.pk}"
