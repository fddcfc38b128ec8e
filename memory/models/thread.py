import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models.user import OwnedQuerySet
from memory.models.memory import Memory


class ThreadQuerySet(OwnedQuerySet["Thread"]):
    def open(self) -> models.QuerySet["Thread"]:
        return self.filter(state=Thread.State.OPEN)


class Thread(models.Model):
    """What is open between a companion and its person: a promise, an exam on Friday, an answer that is owed, a worry.

    Its memory says what it is about, and is deleted together with it. A thread is shown in prompts when it is due. It
    ends when it is dropped, or settled: by the message `settled_by`, if one told of its outcome.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        SETTLED = "settled", pgettext_lazy("thread", "settled")
        DROPPED = "dropped", _("dropped")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="threads")
    memory = models.OneToOneField(Memory, models.CASCADE, related_name="thread")
    due_on = models.DateField(_("due"), null=True, blank=True)  # in the person's time zone
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.OPEN)
    opened_at = models.DateTimeField(_("open since"))
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)
    settled_by = models.ForeignKey(
        "companions.Message",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("settled by"),
    )

    objects = ThreadQuerySet.as_manager()

    class Meta:
        verbose_name = _("thread")
        verbose_name_plural = _("threads")
        ordering = ["-opened_at", "-id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state="open", closed_at=None)
                | ~models.Q(state="open") & models.Q(closed_at__isnull=False),
                name="thread_open_until_closed",
            ),
        ]
        indexes = [
            # The threads to be shown in a prompt.
            models.Index(
                fields=["companion", "due_on"], condition=models.Q(state="open"), name="thread_open_due"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.memory_id}"
