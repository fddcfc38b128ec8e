import uuid
from collections.abc import Iterable
from datetime import datetime

import orjson
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import CHARACTER_FIELDS, Companion

MAX_VERSIONS = 100  # of one companion
MAX_BYTES = 4_000_000  # of all versions of one companion together; the newest stays, however large it is


class CharacterVersionQuerySet(OwnedQuerySet["CharacterVersion"]):
    def keep_former(
        self, companion: Companion, written: Iterable[str] | None, changed_by: str, now: datetime | None
    ) -> None:
        """Save the stored texts as a version if the unsaved `companion` differs in the `written` fields (None: all).

        Deletes the oldest versions above the limits. Call it within the transaction that writes the texts.
        """
        row = Companion.objects.filter(pk=companion.pk).select_for_update(no_key=True)
        texts = row.values(*CHARACTER_FIELDS).first()
        names = [name for name in CHARACTER_FIELDS if written is None or name in written]
        changed = [name for name in names if texts and texts[name] != getattr(companion, name)]
        if not texts or not changed:
            return
        mine = self.filter(companion=companion)
        newest = mine.aggregate(number=models.Max("number"))["number"] or 0
        self.create(
            companion=companion,
            number=newest + 1,
            texts=texts,
            changed=changed,
            changed_by=changed_by,
            changed_at=now or timezone.now(),
            size=len(orjson.dumps(texts)),
        )
        left = MAX_BYTES
        for count, (pk, size) in enumerate(list(mine.order_by("-number").values_list("pk", "size"))):
            left -= size
            if count and (count >= MAX_VERSIONS or left < 0):
                mine.filter(pk=pk).delete()


class CharacterVersion(models.Model):
    """The texts of a companion's character before a change, with the fields, the time and the way of that change."""

    class By(models.TextChoices):
        PAGE = "page", _("on its page")
        API = "api", _("by the API")
        RESTORE = "restore", _("by restoring an earlier version")
        OTHER = "other", _("in another way")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(
        Companion, models.CASCADE, related_name="versions", verbose_name=_("companion")
    )
    number = models.PositiveIntegerField(_("number"))
    texts = models.JSONField(_("texts"))
    changed = ArrayField(models.CharField(max_length=40), verbose_name=_("what was changed"))
    changed_by = models.CharField(_("changed"), max_length=16, choices=By)
    changed_at = models.DateTimeField(_("until"))
    size = models.PositiveIntegerField(_("size in bytes"))

    objects = CharacterVersionQuerySet.as_manager()

    class Meta:
        verbose_name = _("version of a character")
        verbose_name_plural = _("versions of characters")
        ordering = ["-number"]
        constraints = [  # its index is read for a companion's versions, newest first
            models.UniqueConstraint(fields=["companion", "number"], name="character_version_number")
        ]

    def __str__(self) -> str:
        return str(self.number)
