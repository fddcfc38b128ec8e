import uuid

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import OwnedQuerySet

MAX_SENTENCES = 20
SENTENCE_CHARACTERS = 400


class RevisionQuerySet(OwnedQuerySet["Revision"]):
    def of(self, companion_id: uuid.UUID, about: str) -> "RevisionQuerySet":
        """Return the revisions of this one of the companion's texts, newest first; the newest is the current one."""
        return self.filter(companion_id=companion_id, about=about).order_by("-number")


class Revision(models.Model):
    """What a companion thinks of itself, or knows of its user, at a time; the highest number is the current revision.

    `sentences` are [{"text", "sources": ids of messages}], at most 20 with at most 400 characters each.
    """

    class About(models.TextChoices):
        SELF_CONCEPT = "self_concept", _("self-concept")
        USER_PROFILE = "user_profile", _("user profile")

    class By(models.TextChoices):
        CLOSING = "closing", _("end of a session")
        USER = "user", _("user")
        OPERATOR = "operator", _("operator")
        RESTORED = "restored", _("restored")
        DELETION = "deletion", _("deletion")
        IMPORT = "import", _("import")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    companion = models.ForeignKey("companions.Companion", models.CASCADE, related_name="revisions")
    about = models.CharField(_("about"), max_length=16, choices=About)
    number = models.PositiveIntegerField(_("number"))
    sentences = models.JSONField(_("sentences"), default=list)
    by = models.CharField(_("made by"), max_length=16, choices=By)
    session = models.ForeignKey(
        "companions.Session", models.SET_NULL, null=True, blank=True, related_name="+"
    )
    call = models.ForeignKey("accounts.ModelCall", models.SET_NULL, null=True, blank=True, related_name="+")
    is_stale = models.BooleanField(_("based on deleted data"), default=False)
    made_at = models.DateTimeField(_("created"))

    objects = RevisionQuerySet.as_manager()

    class Meta:
        verbose_name = _("revision")
        verbose_name_plural = _("revisions")
        ordering = ["-made_at", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["companion", "about", "number"], name="revision_number_unique")
        ]

    def __str__(self) -> str:
        return f"{self.about} {self.number}"

    @property
    def text(self) -> str:
        return "\n".join(sentence["text"] for sentence in self.sentences)
