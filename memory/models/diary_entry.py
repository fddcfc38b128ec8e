import uuid
from datetime import date, timedelta, tzinfo

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from memory.emotion import Emotion
from memory.models.memory import SHARE, Memory
from text.strings import join_sentences

NIGHT_ENDS = timedelta(hours=4)  # after midnight
TITLE_CHARACTERS = 200


class DiaryEntryQuerySet(OwnedQuerySet["DiaryEntry"]):
    def visible_to_models(self) -> "DiaryEntryQuerySet":
        """Return the entries that models may see: none that is stale, by itself or by its memory, or private."""
        return self.filter(is_stale=False).exclude(memory__is_private=True).exclude(memory__is_stale=True)


class DiaryEntry(models.Model):
    """A closed session in its companion's diary: a title, what it was about, how it felt, and when it was.

    `sentences` are [{"text", "sources": ids of messages}]; `memory` mirrors the entry, so that recall finds it. A stale
    entry is rewritten at `next_at`; until then it keeps the sentences that are left, and for good if it is given up.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="diary")
    session = models.OneToOneField("companions.Session", models.CASCADE, related_name="diary_entry")
    title = models.CharField(_("title"), max_length=TITLE_CHARACTERS)
    sentences = models.JSONField(_("sentences"), default=list)
    started_at = models.DateTimeField(_("from"))
    ended_at = models.DateTimeField(_("until"))
    emotion = models.CharField(_("emotion"), max_length=16, choices=Emotion, default=Emotion.NEUTRAL)
    intensity = models.FloatField(_("intensity"), default=0.0, validators=SHARE)
    memory = models.OneToOneField(Memory, models.SET_NULL, null=True, related_name="diary_entry")
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")
    is_stale = models.BooleanField(_("based on deleted data"), default=False)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    next_at = models.DateTimeField(_("next attempt"), null=True, blank=True)
    made_at = models.DateTimeField(_("written"))

    objects = DiaryEntryQuerySet.as_manager()

    class Meta:
        verbose_name = _("diary entry")
        verbose_name_plural = _("diary entries")
        ordering = ["-started_at", "-id"]
        indexes = [
            # The diary.
            models.Index(fields=["companion", "-started_at", "-id"], name="diary_companion_time"),
            # The sweep.
            models.Index(fields=["next_at"], condition=models.Q(is_stale=True), name="diary_entry_stale"),
        ]

    def __str__(self) -> str:
        return f"{self.started_at:%Y-%m-%d} {self.pk}"

    def get_day(self, zone: tzinfo) -> date:
        """Return the day that the entry is about, in the person's zone: the day on which its session ended, or the day
        before if it ended before four in the morning.
        """
        return (self.ended_at.astimezone(zone) - NIGHT_ENDS).date()

    @property
    def is_given_up(self) -> bool:
        """Return whether the entry is stale and is not rewritten any more, since the model never got it right."""
        return self.is_stale and self.next_at is None

    @property
    def shown_ids(self) -> set[uuid.UUID]:
        """The ids of all that the entry shows, by which a prompt that has it is found when any of it is deleted."""
        sources = {uuid.UUID(id) for sentence in self.sentences for id in sentence.get("sources") or ()}
        return {self.pk, *sources} | ({self.memory_id} if self.memory_id else set())

    @property
    def summary(self) -> str:
        return join_sentences(sentence["text"] for sentence in self.sentences)

    @property
    def text(self) -> str:
        """The title and the summary; without the title where that is only how the summary begins."""
        title = self.title.rstrip(".。… ")
        return self.summary if self.summary.startswith(title) else f"{title}: {self.summary}"
