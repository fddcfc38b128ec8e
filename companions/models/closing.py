import uuid

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.conversation import Session
from companions.models.job import Job


class ClosingQuerySet(OwnedQuerySet["Closing"]):
    def open(self) -> "ClosingQuerySet":
        return self.filter(state=Closing.State.WAITING)

    def abandoned(self) -> "ClosingQuerySet":
        """Return the closings that failed, if their session has not been closed since and no other one is under way."""
        failed = self.filter(state=Closing.State.FAILED, session__ended_at=None)
        return failed.exclude(session__closings__state=Closing.State.WAITING)


class Closing(models.Model):
    """The closing of a session, from the request to the last transaction. `drafts` are the results of its steps so far.

    The session ends with the messages said up to `until_at`; later ones begin the next session. Each draft names its
    sources: if one of them has changed or is gone, or more have come, only that draft is made again. A closing with a
    `past` learns from a session of imported talk, by night.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="closings")
    session = models.ForeignKey(Session, models.CASCADE, related_name="closings")
    job = models.OneToOneField(Job, models.SET_NULL, null=True, blank=True, related_name="closing")
    past = models.ForeignKey(
        "companions.PastImport",
        models.CASCADE,
        null=True,
        blank=True,
        related_name="closings",
        verbose_name=_("imported past"),
    )
    until_at = models.DateTimeField(_("closes messages until"))
    is_forgetful = models.BooleanField(_("without remembering"), default=False)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.WAITING)
    drafts = models.JSONField(_("drafts"), default=dict, blank=True)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    next_at = models.DateTimeField(_("next attempt"))
    error = models.CharField(_("error"), max_length=40, blank=True)
    asked_at = models.DateTimeField(_("requested"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = ClosingQuerySet.as_manager()

    class Meta:
        verbose_name = _("closing")
        verbose_name_plural = _("closings")
        ordering = ["-asked_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["session"], condition=models.Q(state="waiting"), name="closing_one_at_a_time"
            ),
        ]
        indexes = [
            # The sweep.
            models.Index(fields=["next_at"], condition=models.Q(state="waiting"), name="closing_due"),
        ]

    def __str__(self) -> str:
        return f"{self.state} {localtime(self.asked_at):%Y-%m-%d %H:%M}"

    @property
    def is_begun(self) -> bool:
        """Whether a worker has it or it already has drafts: it waits neither for its first try nor for a retry."""
        return bool(self.drafts) or (not self.error and self.next_at > self.asked_at)
