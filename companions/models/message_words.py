from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet
from companions.models.message import Message


class MessageWordsQuerySet(OwnedQuerySet["MessageWords"]):
    owner = "message__companion__user"


class MessageWords(models.Model):
    """The words that a message is found by, as numbers; a trigger of the database keeps them with it.

    They stand apart from the message: what changes of it, as when a branch is chosen, leaves their index as it is.
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
        indexes = [
            GinIndex(fields=["words"], name="message_words", fastupdate=False)
        ]  # the search of the talk

    def __str__(self) -> str:
        return f"{self.message_id}"
