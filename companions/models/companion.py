import uuid
from dataclasses import replace

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from accounts.models.user import OwnedQuerySet
from memory.errors import PolicyError
from memory.scoring import CHOICES, DEFAULT, Policy, by_name
from providers.preference import NO_PREFERENCE, Preference
from text.placeholders import expand_placeholders
from text.strings import one_line


class CompanionQuerySet(OwnedQuerySet["Companion"]):
    owner = "user"


class Companion(models.Model):
    """One user's companion: name, persona, greeting, example dialogue and tint.

    In its three texts `{{char}}` and `{{user}}` stand for the names of the two; `expand` puts them in.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="companions", verbose_name=_("user"))
    name = models.CharField(_("name"), max_length=80)
    persona = models.TextField(_("persona"), blank=True, max_length=20_000)
    greeting = models.TextField(_("greeting"), blank=True, max_length=4_000)
    example_dialogue = models.TextField(_("example dialogue"), blank=True, max_length=8_000)
    without_directions = models.BooleanField(_("without stage directions such as *smiles*"), default=False)
    suggestions = ArrayField(  # without any, the talk offers some of Kith's own
        models.CharField(max_length=200), verbose_name=_("what one may say first"), default=list, blank=True
    )
    tint = models.PositiveSmallIntegerField(_("tint"), default=40, validators=[MaxValueValidator(359)])
    recall_policy = models.CharField(_("what comes to mind"), max_length=32, choices=CHOICES, default=DEFAULT)
    recall_parameters = models.JSONField(_("the curve's parameters"), default=dict, blank=True)
    idle_hours = models.PositiveSmallIntegerField(
        _("hours of silence that end a session"),
        default=8,
        validators=[MinValueValidator(1), MaxValueValidator(720)],
    )
    # Of what was said later, self-concept and profile may not tell yet; None where nothing was looked through.
    understood_until = models.DateTimeField(_("understood until"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("made"), auto_now_add=True)

    objects = CompanionQuerySet.as_manager()

    class Meta:
        verbose_name = _("companion")
        verbose_name_plural = _("companions")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["user", "-created_at"], name="companion_user_time")]  # my companions

    def __str__(self) -> str:
        return self.name

    @property
    def names(self) -> dict[str, str]:
        """What the two who talk are called."""
        return {"user": self.user.name, "companion": self.name}

    def expand(self, text: str, nameless: str = "the person") -> str:
        """Return the text with the names of the two in place of `{{char}}` and `{{user}}`; `nameless` for none."""
        user = one_line(self.user.name) or nameless
        return expand_placeholders(text, char=one_line(self.name), user=user)

    @property
    def preference(self) -> Preference:
        """Which models it wants, whose own may be among them, and how much of their context.

        It asks the database where its mind was not joined.
        """
        mind = getattr(self, "mind", None)
        return replace(mind.preference if mind else NO_PREFERENCE, user_id=self.user_id)

    @property
    def policy(self) -> Policy:
        """The rule by which memories come to its mind, with its parameters."""
        try:
            return by_name(self.recall_policy, parameters=self.recall_parameters)
        except PolicyError:  # kept by another version of Kith: rather its usual parameters than no answer
            return by_name(self.recall_policy)


# -- one writer at a time for each companion


def lock(companion_id: uuid.UUID) -> bool:
    """Return whether the companion is there; it is nobody else's to change until the transaction ends.

    The lock lets rows be added that point at the companion (FOR NO KEY UPDATE).
    """
    row = Companion.objects.filter(pk=companion_id).select_for_update(no_key=True)
    return row.values_list("pk", flat=True).first() is not None


def hold(companion_id: uuid.UUID) -> Companion | None:
    """Return the companion with its user, conversation and mind, locked.

    Locked first and read afterwards: what a locking query has joined is as it was before the lock was waited for.
    """
    if not lock(companion_id):
        return None
    return Companion.objects.select_related("user", "conversation", "mind").get(pk=companion_id)
