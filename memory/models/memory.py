import re
import uuid
from collections.abc import Collection
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from database.journal import AwakeManager
from text.strings import folded, storable

SPACES = re.compile(r"[\s']+")
PLAIN = r"rtrim(lower(regexp_replace(normalize(%(expressions)s, NFKC), '[\s’'']+', '', 'g')), '.!。')"
SHARE = [MinValueValidator(0.0), MaxValueValidator(1.0)]


def from_messages(ids: Collection[uuid.UUID]) -> models.Q:
    """Return a condition for memories that come from one of these messages: mirror it, or were drawn from it."""
    drawn = Memory.sources.through.objects.filter(message__in=ids)
    return models.Q(message__in=ids) | models.Q(pk__in=drawn.values("memory"))


class MemoryQuerySet(OwnedQuerySet["Memory"]):
    def of(self, companion_id: uuid.UUID) -> "MemoryQuerySet":
        return self.filter(companion_id=companion_id)

    def open(self) -> "MemoryQuerySet":
        """Return the memories that still hold, i.e. are not closed."""
        return self.filter(closed_at=None)

    def learnt(self) -> "MemoryQuerySet":
        """Return what was learnt: the memories that do not merely mirror a message, a diary entry or a page."""
        return self.exclude(kind__in=Memory.MIRRORS)

    def visible_to_models(self) -> "MemoryQuerySet":
        """Return the memories that models may see, each with its message: none that is private or whose message is
        hidden.
        """
        visible = self.filter(is_private=False).exclude(message__is_hidden=True)
        return visible.select_related("message").defer("entry")

    def as_of(self, moment: datetime) -> "MemoryQuerySet":
        """Return the memories that held at `moment`: they had happened, and had not been closed."""
        return self.filter(models.Q(closed_at=None) | models.Q(closed_at__gt=moment), happened_at__lte=moment)

    def leaving_out(
        self, messages: Collection[uuid.UUID], memories: Collection[uuid.UUID]
    ) -> "MemoryQuerySet":
        """Return the memories except these, and those that mirror these messages."""
        left = self.exclude(pk__in=memories) if memories else self
        return left.exclude(message__in=messages) if messages else left

    def by_speaker(self, speaker: str) -> "MemoryQuerySet":
        """Return what the user ("user") or the companion ("companion") said."""
        return self.filter(speaker=speaker)

    def by_role(self, role: str) -> "MemoryQuerySet":
        """Return what was said in messages of that role: "user", "assistant" or "system", as in a chat request."""
        return self.filter(message__role=role)

    def by_content(self, text: str) -> "MemoryQuerySet":
        """Return the memories that contain this text, ignoring case."""
        return self.filter(text__icontains=storable(text))

    def same_text(self, text: str) -> "MemoryQuerySet":
        """Return the memories with this text, however it is spelled: case, width, spaces, apostrophes and a full stop or
        "!" at the end do not count.
        """
        plain = models.Func(models.F("text"), template=PLAIN, output_field=models.TextField())
        spelled = SPACES.sub("", folded(storable(text))).rstrip(".!。")
        return self.alias(plain=plain).filter(plain=spelled)

    def by_cause(self, *, message: uuid.UUID | None = None, call: int | None = None) -> "MemoryQuerySet":
        """Return the memories that come from this message and were made by this model call, if both are given.

        Raise ValueError if neither is given.
        """
        if message is None and call is None:
            raise ValueError("The cause is a message or a call.")
        from_message = self.filter(from_messages([message])) if message else self
        return from_message.filter(call_id=call) if call is not None else from_message

    def newest(self, most: int) -> "MemoryQuerySet":
        """Return the `most` memories that happened last, newest first. Raise ValueError if `most` is negative."""
        return self.order_by("-happened_at", "-id")[:most]


class Memory(models.Model):
    """One remembered thing of one companion: its text and kind, when it happened, and the messages it comes from.

    A memory that is asleep was said or learnt on a branch that is not chosen: the companion does not know it now, and
    only the manager `everywhere` finds it.
    """

    class Kind(models.TextChoices):
        SAID = "said", _("said")
        FACT = "fact", _("fact")
        PREFERENCE = "preference", _("preference")
        EVENT = "event", _("event")
        PROMISE = "promise", _("promise")
        RELATIONSHIP = "relationship", _("relationship")
        GOAL = "goal", _("goal")
        IDEA = "idea", _("idea")
        INSIGHT = "insight", _("insight")
        DIARY = "diary", _("diary entry")
        GIST = "gist", _("gist of a page")

    class Speaker(models.TextChoices):
        USER = "user", _("user")
        COMPANION = "companion", _("companion")

    MIRRORS = (Kind.SAID, Kind.DIARY, Kind.GIST)  # they mirror a message, a diary entry or a page
    SUMMARIES = (Kind.DIARY, Kind.GIST, Kind.INSIGHT)  # they sum up much, and repeat nothing

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="memories")
    kind = models.CharField(_("kind"), max_length=16, choices=Kind)
    text = models.TextField(_("text"))
    speaker = models.CharField(_("said by"), max_length=16, choices=Speaker, blank=True)
    happened_at = models.DateTimeField(_("when it happened"))
    learnt_at = models.DateTimeField(_("when it was learnt"))
    edited_at = models.DateTimeField(_("corrected"), null=True, blank=True)
    closed_at = models.DateTimeField(_("valid until"), null=True, blank=True)
    replaced_by = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="replaces")
    is_pinned = models.BooleanField(_("pinned"), default=False)
    is_private = models.BooleanField(_("hidden from models"), default=False)
    is_stale = models.BooleanField(_("based on deleted data"), default=False)
    message = models.OneToOneField(
        "companions.Message",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="memory",
        verbose_name=_("message"),
    )
    sources = models.ManyToManyField("companions.Message", blank=True, related_name="derived_memories")
    drawn_from = models.ManyToManyField("self", symmetrical=False, blank=True, related_name="draws")
    # [{"message": id, "text": as it was said}]
    quotes = models.JSONField(_("quotes"), default=list, blank=True)
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")
    importance = models.PositiveSmallIntegerField(
        _("importance"), default=5, validators=[MinValueValidator(1), MaxValueValidator(10)]
    )
    evidence = models.PositiveIntegerField(_("times mentioned"), default=1, validators=[MinValueValidator(1)])
    confidence = models.FloatField(_("confidence"), default=1.0, validators=SHARE)
    tags = ArrayField(models.CharField(max_length=40), verbose_name=_("tags"), default=list, blank=True)
    joy = models.FloatField(_("joy"), default=0.0, validators=SHARE)
    aversion = models.FloatField(_("aversion"), default=0.0, validators=SHARE)
    times_recalled = models.PositiveIntegerField(_("times recalled"), default=0, editable=False)
    recalled_at = models.DateTimeField(_("last recalled"), null=True, blank=True, editable=False)
    # What recall reads of a memory (memory.recall.candidates).
    entry = models.BinaryField(default=b"", editable=False)

    is_asleep = models.BooleanField(_("on another branch"), default=False, editable=False)

    objects = AwakeManager.from_queryset(MemoryQuerySet)()
    everywhere = MemoryQuerySet.as_manager()

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        ordering = ["-happened_at", "-id"]
        indexes = [
            # The list.
            models.Index(fields=["companion", "-happened_at", "-id"], name="memory_companion_time"),
            models.Index(  # what was learnt since the last consolidation, but for what that added
                fields=["companion", "learnt_at"],
                condition=~models.Q(kind__in=["said", "diary", "gist", "insight"]),
                name="memory_companion_learnt",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(message=None) | models.Q(kind="said"), name="memory_of_a_message_is_said"
            ),
            models.CheckConstraint(
                condition=models.Q(importance__range=(1, 10)), name="memory_importance_1_to_10"
            ),
            models.CheckConstraint(condition=models.Q(evidence__gte=1), name="memory_evidence_from_1"),
            models.CheckConstraint(
                condition=models.Q(joy__range=(0, 1), aversion__range=(0, 1)),
                name="memory_feelings_0_to_1",
            ),
            models.CheckConstraint(
                condition=models.Q(confidence__range=(0, 1)), name="memory_confidence_0_to_1"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {localtime(self.happened_at):%Y-%m-%d %H:%M}"

    @property
    def sought(self) -> str:
        """The text that recall searches, by words and by meaning: the memory's own, and for a gist also the page's."""
        page = getattr(self, "page", None) if self.kind == self.Kind.GIST else None
        return f"{self.text}\n\n{page.text}" if page else self.text

    @property
    def quoted(self) -> set[str]:
        """The ids of the messages that the memory quotes."""
        return {str(quote["message"]) for quote in self.quotes}

    @property
    def has_open_thread(self) -> bool:
        """Whether the memory has a thread that is open between the companion and its person."""
        thread = getattr(self, "thread", None)
        return thread is not None and thread.state == thread.State.OPEN


class Recall(models.Model):
    """A search of memory: from which cue, by whom, when, and how long it took."""

    class By(models.TextChoices):
        TURN = "turn", _("turn")
        TOOL = "tool", _("tool")
        API = "api", _("API")
        OPERATOR = "operator", _("operator")

    class Omission(models.TextChoices):
        """Why a turn's prompt did not get a memory that nearly came."""

        FLOOR = "floor", _("it had too little to do with what was said")
        FIT = "fit", _("it fitted less than half as well as the best")
        RANK = "rank", _("others fitted better")
        POLICY = "policy", _("the scoring policy let none like it come")
        REPETITION = "repetition", _("it says the same as something else in the prompt")
        ROOM = "room", _("the prompt had no room for it")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="recalls")
    reply = models.ForeignKey(
        "companions.Reply", models.CASCADE, null=True, blank=True, related_name="recalls"
    )
    by = models.CharField(_("by"), max_length=16, choices=By)
    cue = models.TextField(_("cue"), blank=True)
    at = models.DateTimeField(_("when"))
    milliseconds = models.PositiveIntegerField(_("duration (ms)"))  # without the embedding of the cue
    policy = models.CharField(_("scoring policy"), max_length=32, blank=True)
    # Of a turn: the memories that nearly came, as `LeftOut.render` returns them: ids and numbers, no words.
    left_out = models.JSONField(_("left out"), null=True, blank=True)

    objects = OwnedQuerySet["Recall"].as_manager()

    class Meta:
        verbose_name = _("recall")
        verbose_name_plural = _("recalls")
        ordering = ["-at"]
        # The admin's list.
        indexes = [models.Index(fields=["companion", "-at"], name="recall_companion_time")]

    def __str__(self) -> str:
        return f"{self.by} {localtime(self.at):%Y-%m-%d %H:%M}"


class RecalledQuerySet(OwnedQuerySet["Recalled"]):
    owner = "recall__companion__user"

    def of(self, companion_id: uuid.UUID) -> "RecalledQuerySet":
        return self.filter(recall__companion_id=companion_id)


class Recalled(models.Model):
    """One memory that a recall found: its rank from 1, its score, and the reasons in numbers."""

    recall = models.ForeignKey(Recall, models.CASCADE, related_name="found")
    memory = models.ForeignKey(Memory, models.CASCADE, related_name="recalled")
    rank = models.PositiveSmallIntegerField(_("rank"))
    score = models.FloatField(_("score"))
    reasons = models.JSONField(_("reasons"))
    # Shown to the model of a reply that was given, which strengthens the memory.
    is_used = models.BooleanField(_("used"), default=False)

    objects = RecalledQuerySet.as_manager()

    class Meta:
        verbose_name = _("recalled memory")
        verbose_name_plural = _("recalled memories")
        ordering = ["rank"]
        constraints = [models.UniqueConstraint(fields=["recall", "memory"], name="recalled_once")]

    def __str__(self) -> str:
        return f"{self.rank}. {self.memory_id}"
