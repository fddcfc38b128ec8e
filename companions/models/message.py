import uuid

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.companion import Companion
from companions.models.conversation import Conversation, Session
from database.journal import AwakeManager


class MessageQuerySet(OwnedQuerySet["Message"]):
    pass


class Message(models.Model):
    """One message of a conversation. A hidden message stays on the page but goes into no later prompt.

    A system message is a notice by Kith itself, e.g. a reminder that no model has put into words: it becomes no memory,
    and nothing is learnt from it. A message with `is_asleep` is not on the chosen branch; only `everywhere` finds it.
    """

    class Role(models.TextChoices):
        USER = "user", _("user")
        ASSISTANT = "assistant", _("companion")
        SYSTEM = "system", _("system")

    KITH = "Kith"  # the author of a notice

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="messages")
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="messages")
    session = models.ForeignKey(Session, models.CASCADE, related_name="messages")
    parent = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="children")
    quoted = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="quotes", verbose_name=_("quotes")
    )
    role = models.CharField(_("role"), max_length=16, choices=Role)
    author = models.CharField(_("author"), max_length=80, blank=True)
    text = models.TextField(_("text"))
    client_id = models.CharField(_("client's id"), max_length=200, null=True, blank=True)  # noqa: DJ001 (unique when given)
    said_at = models.DateTimeField(_("said"))
    created_at = models.DateTimeField(_("stored"), auto_now_add=True)
    is_hidden = models.BooleanField(_("hidden from prompts"), default=False)
    is_rehearsed = models.BooleanField(_("written by the rehearsal model"), default=False)
    model = models.CharField(_("written by model"), max_length=200, blank=True)
    is_stand_in = models.BooleanField(_("by a stand-in"), default=False)  # instead of the companion's model
    is_learnt = models.BooleanField(_("learnt from"), default=False)
    is_asleep = models.BooleanField(_("on another branch"), default=False, editable=False)
    waking = models.OneToOneField(
        "companions.Waking",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="message",
        verbose_name=_("said in the waking"),
    )
    job = models.ForeignKey("companions.Job", models.SET_NULL, null=True, blank=True, related_name="messages")

    objects = AwakeManager.from_queryset(MessageQuerySet)()
    everywhere = MessageQuerySet.as_manager()

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["-said_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["companion", "client_id"], name="message_client_id_unique"),
        ]
        indexes = [
            # The admin's list.
            models.Index(fields=["companion", "-said_at", "-id"], name="message_companion_time"),
            models.Index(fields=["companion", "-created_at"], name="message_companion_stored"),  # the gate
            # The messages of a session.
            models.Index(fields=["session", "said_at", "id"], name="message_session_time"),
        ]

    def __str__(self) -> str:
        return f"{self.role} {localtime(self.said_at):%Y-%m-%d %H:%M}"

    @property
    def is_notice(self) -> bool:
        """Whether the message is Kith's own, not the person's or the companion's."""
        return self.role == self.Role.SYSTEM

    @property
    def sender(self) -> str:
        """The sender of an unprompted message, in one line: Kith or the companion."""
        return self.KITH if self.is_notice else " ".join(self.companion.name.split())
