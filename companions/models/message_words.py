from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.message import Message


class MessageWordsQuerySet(OwnedQuerySet["MessageWords"]):
    owner = "message__companion__user"


class MessageWords(models.Model):
    """The words by which the search finds a message, as numbers. A database trigger keeps them up to date.

    They have a table of their own so that updates of a message, e.g. when a branch is chosen, do not touch their index.
    """

    message = models.OneToOneField(  # the database deletes these with their message
        Message,
        models.DO_NOTHING,
        primary_key=True,
        db_constraint=False,
        related_name="search_words",
        verbose_name=_("message"),
    )
    said_at = models.DateTimeField(_("said"))
    words = ArrayField(models.IntegerField(), verbose_name=_("words"))

    objects = MessageWordsQuerySet.as_manager()

    class Meta:
        verbose_name = _("words of a message")
        verbose_name_plural = _("words of messages")
        # The search in the talk.
        indexes = [GinIndex(fields=["words"], name="message_words", fastupdate=False)]

    def __str__(self) -> str:
        return f"{self.message_id}"
