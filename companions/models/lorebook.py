import uuid
from typing import Any

from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.models.user import OwnedQuerySet, UserOwnedQuerySet
from companions.models.companion import Companion
from companions.models.message import Message


class Lorebook(models.Model):
    """Lore of one character, or of a user for all their companions, whose entries enter a prompt when their keys match.

    Nothing is learnt from it, and recall never returns it. `data` holds what the book has besides its fields and
    entries, in the form of a V3 card.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="lorebooks", verbose_name=_("user"))
    companion = models.ForeignKey(
        Companion,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="lorebooks",
        verbose_name=_("companion"),
    )
    name = models.CharField(_("name"), max_length=200, blank=True)
    is_enabled = models.BooleanField(_("enabled"), default=True)
    scan_depth = models.PositiveSmallIntegerField(
        _("messages to scan"), null=True, blank=True, validators=[MaxValueValidator(1000)]
    )
    token_budget = models.PositiveIntegerField(
        _("maximum tokens"), null=True, blank=True, validators=[MaxValueValidator(1_000_000)]
    )
    is_recursive = models.BooleanField(_("entries can trigger entries"), null=True, blank=True)
    data = models.JSONField(_("further data"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created"))

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("lorebook")
        verbose_name_plural = _("lorebooks")
        ordering = ["created_at", "id"]
        indexes = [models.Index(fields=["user", "companion"], name="lorebook_user_companion")]  # for a turn

    def __str__(self) -> str:
        return self.name or str(_("A lorebook without a name"))

    def as_card(self) -> dict[str, Any]:
        """Return the book with its entries, in the form of a V3 card."""
        entries = [entry.data for entry in self.entries.all()]
        numbers = {"scan_depth": self.scan_depth, "token_budget": self.token_budget}
        is_recursive = {"recursive_scanning": self.is_recursive}
        return {**self.data, "name": self.name, **numbers, **is_recursive, "entries": entries}


class LoreEntryQuerySet(OwnedQuerySet["LoreEntry"]):
    owner = "lorebook__user"


class LoreEntry(models.Model):
    """One entry of a lorebook, in the form of a V3 card: keys, content, and when and where it enters the prompt."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    lorebook = models.ForeignKey(Lorebook, models.CASCADE, related_name="entries", verbose_name=_("lorebook"))
    place = models.PositiveIntegerField(_("position in the book"), default=0)
    data = models.JSONField(_("entry"), default=dict)

    objects = LoreEntryQuerySet.as_manager()

    class Meta:
        verbose_name = _("lore entry")
        verbose_name_plural = _("lore entries")
        ordering = ["place", "id"]

    def __str__(self) -> str:
        return self.title[:80]

    @property
    def title(self) -> str:
        """What the entry is called in lists: its name, else its comment, else its keys."""
        data: dict[str, Any] = self.data
        return str(data.get("name") or data.get("comment") or ", ".join(map(str, data.get("keys") or ())))


class LoreFiring(models.Model):
    """A match of a lore entry whose rules count messages, with the message whose answer it was matched for.

    Belongs to that message, and so holds on the message's branch only.
    """

    companion = models.ForeignKey(Companion, models.CASCADE, related_name="lore_firings")
    entry = models.ForeignKey(LoreEntry, models.CASCADE, related_name="firings")
    message = models.ForeignKey(Message, models.CASCADE, related_name="lore_firings")

    objects = OwnedQuerySet["LoreFiring"].as_manager()

    class Meta:
        verbose_name = _("firing of a lore entry")
        verbose_name_plural = _("firings of lore entries")
        constraints = [models.UniqueConstraint(fields=["entry", "message"], name="lore_fired_once_a_message")]

    def __str__(self) -> str:
        return f"{self.entry_id} {self.message_id}"
