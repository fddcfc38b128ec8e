import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.reply import Reply

SUBJECT_CHARACTERS = 2000


class ForgetProposal(models.Model):
    """A companion's proposal, made in a reply, to forget something as the person asked. Only the person can confirm it.

    What would be deleted is searched anew each time by the `subject`, which holds one wording a line. `near` are the
    ids of memories that may tell the same in other words; they are deleted only if the person chooses them. When the
    proposal ends, both fields are emptied; the row stays, so that nothing is learnt from the talk about it.
    """

    class State(models.TextChoices):
        OPEN = "open", pgettext_lazy("proposal", "open")
        CONFIRMED = "confirmed", _("confirmed")
        DECLINED = "declined", _("declined")
        LAPSED = "lapsed", _("expired")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="forget_proposals")
    reply = models.ForeignKey(Reply, models.CASCADE, related_name="forget_proposals")
    subject = models.TextField(_("subject"), max_length=SUBJECT_CHARACTERS, blank=True)
    near = ArrayField(models.UUIDField(), default=list)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.OPEN)
    made_at = models.DateTimeField(_("created"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = OwnedQuerySet["ForgetProposal"].as_manager()

    class Meta:
        verbose_name = _("proposal to forget")
        verbose_name_plural = _("proposals to forget")
        ordering = ["-made_at"]
        indexes = [
            models.Index(  # the sweep of lapsed proposals
                fields=["made_at"], condition=models.Q(state="open"), name="forget_proposal_open"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.state} {self.id}"
