import uuid

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.message import Message


class ReplyQuerySet(OwnedQuerySet["Reply"]):
    def waiting(self) -> "ReplyQuerySet":
        return self.filter(state=Reply.State.QUEUED)

    def open(self) -> "ReplyQuerySet":
        return self.filter(state__in=Reply.OPEN)

    def under_way(self) -> "ReplyQuerySet":
        return self.filter(state__in=Reply.UNDER_WAY)


class Reply(models.Model):
    """An answer while it is made, and its trace afterwards. The process that makes it renews a lease."""

    class State(models.TextChoices):
        QUEUED = "queued", _("queued")
        THINKING = "thinking", _("thinking")
        STREAMING = "streaming", _("streaming")
        DONE = "done", _("done")
        STOPPED = "stopped", _("stopped")
        INTERRUPTED = "interrupted", _("interrupted")
        FAILED = "failed", _("failed")

    UNDER_WAY = (State.THINKING, State.STREAMING)
    OPEN = (State.QUEUED, *UNDER_WAY)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="replies")
    message = models.ForeignKey(Message, models.CASCADE, related_name="replies", verbose_name=_("answers"))
    answer = models.OneToOneField(
        Message, models.SET_NULL, null=True, blank=True, related_name="made_by", verbose_name=_("answer")
    )
    continues = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="continued_by")
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.QUEUED)
    text = models.TextField(_("text so far"), blank=True)
    thought = models.TextField(_("reasoning"), blank=True)
    seq = models.PositiveIntegerField(_("pieces saved"), default=0)
    tool_calls = models.JSONField(_("tool calls"), default=list, blank=True)
    # Each as {"at", "emotion", "intensity"}; `at` is the offset in the text from which it holds.
    emotions = models.JSONField(_("emotions"), default=list, blank=True)
    # The lore that entered its prompt, and the lore that matched but was left out, each with why: "placed", "dropped".
    lore = models.JSONField(_("lore"), default=dict, blank=True)
    # It answers an utterance, and is spoken aloud.
    is_in_call = models.BooleanField(_("in a call"), default=False)
    is_stop_asked = models.BooleanField(_("stop requested"), default=False)
    lease_by = models.CharField(_("made by process"), max_length=80, blank=True)
    lease_at = models.DateTimeField(_("lease renewed"), null=True, blank=True)
    code = models.CharField(_("error"), max_length=40, blank=True)
    template = models.CharField(_("version of the prompts"), max_length=20, blank=True)
    model = models.CharField(_("model"), max_length=200, blank=True)
    is_stand_in = models.BooleanField(_("by a stand-in"), default=False)  # instead of the companion's model
    created_at = models.DateTimeField(_("requested"))
    started_at = models.DateTimeField(_("started"), null=True, blank=True)
    first_piece_at = models.DateTimeField(_("first piece"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = ReplyQuerySet.as_manager()

    class Meta:
        verbose_name = _("reply")
        verbose_name_plural = _("replies")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["companion"],
                condition=models.Q(state__in=["thinking", "streaming"]),
                name="reply_one_at_a_time",
            ),
        ]
        indexes = [
            # The reply whose turn it is.
            models.Index(fields=["companion", "-created_at"], name="reply_companion_time"),
            models.Index(  # the journal's trigger: the open reply in which a change is made
                fields=["companion", "created_at"],
                condition=models.Q(state__in=["queued", "thinking", "streaming"]),
                name="reply_open",
            ),
            models.Index(  # the sweep
                fields=["lease_at"],
                condition=models.Q(state__in=["queued", "thinking", "streaming"]),
                name="reply_open_lease",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} {localtime(self.created_at):%Y-%m-%d %H:%M}"

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN
