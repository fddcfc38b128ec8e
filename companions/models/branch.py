import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.conversation import Conversation

BRANCH_NAME_CHARACTERS = 80


class Branch(models.Model):
    """A path from a conversation's first message to `head`, from which the person may go on.

    A conversation that was never branched has no rows. The head of the chosen branch is `Conversation.head`; its own
    `head` is only brought up to date when another branch is chosen.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="branches")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="branches")
    head = models.ForeignKey(
        "companions.Message", models.CASCADE, related_name="+", verbose_name=_("ends with")
    )
    name = models.CharField(_("name"), max_length=BRANCH_NAME_CHARACTERS, blank=True)
    made_at = models.DateTimeField(_("created"))
    left_at = models.DateTimeField(_("chosen until"), null=True, blank=True)

    objects = OwnedQuerySet["Branch"].as_manager()

    class Meta:
        verbose_name = _("branch")
        verbose_name_plural = _("branches")
        ordering = ["-made_at", "-id"]
        indexes = [models.Index(fields=["companion", "-made_at", "-id"], name="branch_companion_time")]

    def __str__(self) -> str:
        return f"{self.made_at:%Y-%m-%d %H:%M}"


class JournalEntry(models.Model):
    """One change of what a companion knows, written by a database trigger, and the message after which it was made.

    While that message is not on the chosen branch, the change is undone. `before` and `after` hold the columns that an
    update changed, or the whole row if it is not in its table now. `at` is the id of the message; of the reply or
    waking that is under way; or, if other messages follow the last one, of the conversation or of the branch that is
    not chosen. See `companions.branches`.
    """

    class Kind(models.TextChoices):
        INSERT = "insert", _("added")
        UPDATE = "update", _("changed")
        DELETE = "delete", _("removed")

    id = models.BigAutoField(primary_key=True)
    companion = models.ForeignKey(  # the database deletes these with their companion
        Companion, models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
    )
    at = models.UUIDField(_("after"))
    table = models.CharField(_("table"), max_length=60)
    row = models.CharField(_("row"), max_length=40)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    before = models.JSONField(_("before"), null=True)
    after = models.JSONField(_("after"), null=True)
    is_undone = models.BooleanField(_("undone"), default=False)

    objects = OwnedQuerySet["JournalEntry"].as_manager()

    class Meta:
        verbose_name = _("journal entry")
        verbose_name_plural = _("journal entries")
        ordering = ["id"]
        indexes = [
            models.Index(fields=["companion", "at"], name="journal_companion_at"),
            models.Index(fields=["table", "row"], name="journal_row"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.table} {self.row}"
