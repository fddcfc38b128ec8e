import uuid

from django.db import models
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.models.user import OwnedQuerySet, UserOwnedQuerySet
from companions.models.companion import Companion
from companions.models.job import Job
from files.models import StoredFile

FILE_NAME_CHARACTERS, SPEAKER_CHARACTERS, PATTERN_CHARACTERS = 200, 200, 200


class PastForm(models.TextChoices):
    """The program or form that a file of earlier talk comes from, as in `pasts.past.FORMS`."""

    SILLYTAVERN = "sillytavern", _("a chat from SillyTavern")
    CHATGPT = "chatgpt", _("conversations from ChatGPT")
    CLAUDE = "claude", _("conversations from Claude")
    DEEPSEEK = "deepseek", _("conversations from DeepSeek")
    CHARACTER_AI = "character_ai", _("chats from Character.AI")
    RISUAI = "risuai", _("chats from RisuAI")
    KOBOLDAI = "koboldai", _("a story from KoboldAI Lite")
    OOBABOOGA = "oobabooga", _("a chat from text-generation-webui")
    TEXT = "text", _("plain text")


class PastUpload(models.Model):
    """An uploaded file of earlier talk, kept for a day while the user looks at it and may import it."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="past_uploads", verbose_name=_("user"))
    file = models.OneToOneField(
        StoredFile, models.CASCADE, related_name="past_upload", verbose_name=_("file")
    )
    name = models.CharField(_("name of the file"), max_length=FILE_NAME_CHARACTERS, blank=True)
    form = models.CharField(_("form"), max_length=20, choices=PastForm)
    created_at = models.DateTimeField(_("uploaded"))

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("uploaded past")
        verbose_name_plural = _("uploaded pasts")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["created_at"], name="past_upload_age")]  # deletion of old uploads

    def __str__(self) -> str:
        return f"{self.form} {self.created_at:%Y-%m-%d %H:%M}"


class PastImport(models.Model):
    """An import of earlier talk from a file, and how far it has been stored and learnt from.

    Its messages have its `job`. `chosen` are the positions in the file of the talks to import (empty: all). `person` is
    the speaker who is the user, if the file does not say. Talks without any time are dated before `before_at`. `file`
    is kept until everything is stored.

    It is learnt from session by session, within `nightly_tokens` a night. `night_of` is the day that the last night of
    learning led to, and `tokens_tonight` what that night spent. Self-concept and profile take its messages up to
    `understood_until` into account.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("importing")
        DONE = "done", _("remembered")
        FAILED = "failed", _("failed")
        UNDOING = "undoing", _("being undone")

    class Learning(models.TextChoices):
        NONE = "none", _("nothing is learnt from it")
        RUNNING = "running", _("learnt from at night")
        PAUSED = "paused", _("paused")
        DONE = "done", _("learnt from")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey(Companion, models.CASCADE, related_name="past_imports")
    job = models.OneToOneField(Job, models.CASCADE, related_name="past_import")
    file = models.OneToOneField(
        StoredFile,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="past_import",
        verbose_name=_("file"),
    )
    form = models.CharField(_("form"), max_length=20, choices=PastForm)
    titles = models.JSONField(_("conversations"), default=list, blank=True)
    chosen = models.JSONField(_("chosen conversations"), default=list, blank=True)
    person = models.CharField(_("name of the user"), max_length=SPEAKER_CHARACTERS, blank=True)
    pattern = models.CharField(_("pattern"), max_length=PATTERN_CHARACTERS, blank=True)
    before_at = models.DateTimeField(_("before"))
    messages_count = models.PositiveIntegerField(_("messages"), default=0)
    skipped_count = models.PositiveIntegerField(_("messages already there"), default=0)
    first_at = models.DateTimeField(_("from"), null=True, blank=True)
    last_at = models.DateTimeField(_("until"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.WAITING)
    error = models.CharField(_("error"), max_length=40, blank=True)
    attempts = models.PositiveSmallIntegerField(_("failed attempts"), default=0)
    look_at = models.DateTimeField(_("next check"), null=True, blank=True)
    learning = models.CharField(_("learning"), max_length=16, choices=Learning, default=Learning.NONE)
    nightly_tokens = models.PositiveIntegerField(_("tokens per night"), default=0)
    tokens_spent = models.PositiveIntegerField(_("tokens spent"), default=0)
    tokens_tonight = models.PositiveIntegerField(_("tokens spent in that night"), default=0)
    night_of = models.DateField(_("last night of learning"), null=True, blank=True)
    asked_at = models.DateTimeField(_("learning requested"), null=True, blank=True)
    understood_until = models.DateTimeField(_("understood until"), null=True, blank=True)
    created_at = models.DateTimeField(_("started"))
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = OwnedQuerySet["PastImport"].as_manager()

    class Meta:
        verbose_name = _("imported past")
        verbose_name_plural = _("imported pasts")
        ordering = ["-created_at", "-id"]
        indexes = [
            # My imports.
            models.Index(fields=["companion", "-created_at", "-id"], name="past_import_companion"),
            # The sweeps: of imports that come in or are undone, and of those that are learnt from.
            models.Index(
                fields=["look_at"],
                condition=models.Q(state__in=["waiting", "undoing"]),
                name="past_import_due",
            ),
            models.Index(
                fields=["asked_at"], condition=models.Q(learning="running"), name="past_import_learning"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.form} {localtime(self.created_at):%Y-%m-%d %H:%M}"
