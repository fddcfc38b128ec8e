import uuid

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import User
from accounts.models.user import AgeGroup, OwnedQuerySet, UserOwnedQuerySet
from companions.models.companion import Companion
from files.models import StoredFile

LINE_CHARACTERS, SUMMARY_CHARACTERS, PUBLISHER_CHARACTERS = 200, 1_000, 40
MAX_TAGS, TAG_CHARACTERS = 8, 30
LANGUAGES = (  # in which a character may speak, each named in itself
    *(("en", "English"), ("zh", "中文"), ("ar", "العربية"), ("cs", "Čeština"), ("da", "Dansk")),
    *(("de", "Deutsch"), ("el", "Ελληνικά"), ("es", "Español"), ("fa", "فارسی"), ("fi", "Suomi")),
    *(("fr", "Français"), ("he", "עברית"), ("hi", "हिन्दी"), ("hu", "Magyar"), ("id", "Bahasa Indonesia")),
    *(("it", "Italiano"), ("ja", "日本語"), ("ko", "한국어"), ("nl", "Nederlands"), ("no", "Norsk")),
    *(("pl", "Polski"), ("pt", "Português"), ("ro", "Română"), ("ru", "Русский"), ("sv", "Svenska")),
    *(("th", "ไทย"), ("tr", "Türkçe"), ("uk", "Українська"), ("vi", "Tiếng Việt"), ("und", "…")),
)


class GalleryCharacter(models.Model):
    """A published character with its versions. It outlives its companion, and goes with its publisher's account."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, models.CASCADE, related_name="gallery_characters", verbose_name=_("publisher")
    )
    companion = models.OneToOneField(
        Companion,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="gallery_character",
        verbose_name=_("companion"),
    )
    created_at = models.DateTimeField(_("first submitted"))

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("published character")
        verbose_name_plural = _("published characters")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["user", "-created_at"], name="gallery_user_time")]  # what I published

    def __str__(self) -> str:
        return str(self.pk)


class GalleryVersionQuerySet(OwnedQuerySet["GalleryVersion"]):
    owner = "character__user"


class GalleryVersion(models.Model):
    """One version of a published character: a card, the publisher's description of it, and the operators' decision.

    The approved version is shown to everybody old enough for its rating; the others only to the publisher and
    operators.
    """

    class State(models.TextChoices):
        WAITING = "waiting", pgettext_lazy("a version of a published character", "waiting")
        APPROVED = "approved", pgettext_lazy("a version of a published character", "approved")
        REPLACED = "replaced", pgettext_lazy("a version of a published character", "replaced by a newer one")
        REJECTED = "rejected", pgettext_lazy("a version of a published character", "rejected")
        TAKEN_DOWN = "taken_down", pgettext_lazy("a version of a published character", "taken down")
        WITHDRAWN = "withdrawn", pgettext_lazy("a version of a published character", "withdrawn")

    class Licence(models.TextChoices):
        CC0 = "CC0-1.0", _("CC0: anyone may use it for any purpose")
        CC_BY = "CC-BY-4.0", _("CC BY 4.0: any use, as long as its author is named")
        CC_BY_SA = (
            "CC-BY-SA-4.0",
            _("CC BY-SA 4.0: any use, as long as its author is named and adaptations have the same licence"),
        )
        HERE = "own-rights", _("All rights reserved: for conversations on this Kith, not to be passed on")

    class Rating(models.TextChoices):
        EVERYONE = "everyone", _("for everyone")
        SIXTEEN = "16", _("from 16 years")
        ADULTS = "adults", _("for adults only")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    character = models.ForeignKey(
        GalleryCharacter, models.CASCADE, related_name="versions", verbose_name=_("published character")
    )
    number = models.PositiveIntegerField(_("number"))
    state = models.CharField(_("state"), max_length=16, choices=State, default=State.WAITING)
    name = models.CharField(_("name"), max_length=80)
    published_as = models.CharField(_("published as"), max_length=PUBLISHER_CHARACTERS)
    line = models.CharField(_("something that it would say"), max_length=LINE_CHARACTERS)
    summary = models.TextField(_("who it is, in short"), max_length=SUMMARY_CHARACTERS, blank=True)
    tags = ArrayField(
        models.CharField(max_length=TAG_CHARACTERS),
        verbose_name=_("tags"),
        size=MAX_TAGS,
        default=list,
        blank=True,
    )
    language = models.CharField(_("language"), max_length=16, choices=LANGUAGES)
    licence = models.CharField(_("licence"), max_length=16, choices=Licence)
    rating = models.CharField(_("for which age"), max_length=16, choices=Rating)
    content = models.JSONField(_("card"))  # in V3 form, normalised
    picture = models.OneToOneField(
        StoredFile,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="gallery_version",
        verbose_name=_("picture"),
    )
    tint = models.PositiveSmallIntegerField(_("tint"), default=40, validators=[MaxValueValidator(359)])
    seed = models.PositiveBigIntegerField(_("seed"), default=0)  # of the drawn face
    chosen = models.JSONField(_("chosen"), default=dict, blank=True)
    submitted_at = models.DateTimeField(_("submitted"))
    decided_at = models.DateTimeField(_("decided"), null=True, blank=True)
    decided_by = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("decided by")
    )
    reason = models.TextField(_("reason"), max_length=1_000, blank=True)

    objects = GalleryVersionQuerySet.as_manager()

    class Meta:
        verbose_name = _("version of a published character")
        verbose_name_plural = _("versions of published characters")
        ordering = ["-submitted_at"]
        permissions = [
            ("decide_galleryversion", "Can approve, reject and take down characters of the gallery")
        ]
        constraints = [
            models.UniqueConstraint(fields=["character", "number"], name="gallery_version_number"),
            models.UniqueConstraint(
                fields=["character"],
                condition=models.Q(state="approved"),
                name="gallery_one_approved_version",
            ),
            models.UniqueConstraint(
                fields=["character"], condition=models.Q(state="waiting"), name="gallery_one_waiting_version"
            ),
        ]
        indexes = [
            models.Index(fields=["state", "-decided_at"], name="gallery_state_decided"),  # the gallery
            models.Index(fields=["state", "submitted_at"], name="gallery_state_submitted"),  # what waits
        ]

    def __str__(self) -> str:
        return f"{self.character_id} {self.number}"


# The youngest age group that each rating admits.
AGES = {
    GalleryVersion.Rating.EVERYONE: AgeGroup.ANY,
    GalleryVersion.Rating.SIXTEEN: AgeGroup.SIXTEEN,
    GalleryVersion.Rating.ADULTS: AgeGroup.ADULT,
}


class ReportedVersion(models.Model):
    """A copy of a reported version that only operators see. It stays when the publisher deletes the character, and is
    deleted with the publisher's account.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, models.CASCADE, related_name="reported_versions", verbose_name=_("publisher")
    )
    version = models.OneToOneField(GalleryVersion, models.SET_NULL, null=True, related_name="reported")
    published = models.JSONField()  # the card, and the publisher's description of it
    kept_at = models.DateTimeField()

    objects = UserOwnedQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.pk)


class GalleryReport(models.Model):
    """A user's report that something is wrong with a published character; kept when the character is deleted."""

    class Kind(models.TextChoices):
        UNLAWFUL = "unlawful", _("it is against the law")
        HATEFUL = "hateful", _("it insults or threatens people")
        RATING = "rating", _("its age rating is wrong")
        COPIED = "copied", _("it is somebody else's work")
        PRIVATE = "private", _("it reveals private information about a real person")
        OTHER = "other", _("something else")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(
        User, models.CASCADE, related_name="gallery_reports", verbose_name=_("reported by")
    )
    character = models.ForeignKey(
        GalleryCharacter,
        models.SET_NULL,
        null=True,
        related_name="reports",
        verbose_name=_("published character"),
    )
    number = models.PositiveIntegerField(_("version"))
    copy = models.ForeignKey(ReportedVersion, models.SET_NULL, null=True, related_name="reports")
    kind = models.CharField(_("what is wrong"), max_length=16, choices=Kind)
    text = models.TextField(_("in your words"), max_length=1_000, blank=True)
    created_at = models.DateTimeField(_("reported"))
    settled_at = models.DateTimeField(_("resolved"), null=True, blank=True)

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("report of a published character")
        verbose_name_plural = _("reports of published characters")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["user", "character"],
                condition=models.Q(settled_at=None),
                name="gallery_one_open_report_a_person",
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.created_at:%Y-%m-%d %H:%M}"
