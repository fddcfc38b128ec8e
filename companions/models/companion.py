import uuid
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from accounts.limits.usage import Payer
from accounts.models import User
from accounts.models.user import OwnedQuerySet
from database.queries import forbid_insert
from memory.errors import PolicyError
from memory.scoring import CHOICES, DEFAULT, Policy, by_name
from providers.selection import NO_PREFERENCE, Preference
from text.placeholders import Macros
from text.strings import one_line

PERSONA_CHARACTERS, GREETING_CHARACTERS = 40_000, 12_000
TEXT_CHARACTERS = 20_000  # of the scenario, of example dialogue and of each of the instructions
MAX_GREETINGS = 50  # in addition to the first
CHARACTER_FIELDS = (  # the texts of a character and their settings, all of which a CharacterVersion holds
    *("name", "nickname", "persona", "personality", "scenario", "greeting", "alternate_greetings"),
    *("example_dialogue", "system_prompt", "post_history_instructions"),
    *("depth_prompt", "depth_prompt_depth", "depth_prompt_role"),
)


class CompanionQuerySet(OwnedQuerySet["Companion"]):
    owner = "user"

    def update(self, **values: Any) -> int:
        """Update the rows; raise TypeError if `values` has a character field, which only `Companion.save` may write."""
        if not values.keys().isdisjoint(CHARACTER_FIELDS):
            raise TypeError(
                "The texts of a character are written by Companion.save, which keeps the former ones"
            )
        return super().update(**values)


class Companion(models.Model):
    """One user's companion: its name and tint, and the texts of its character, named like the fields of a card.

    `persona` is a card's description. In the prompt, `system_prompt` stands before the persona,
    `post_history_instructions` after the talk, and `depth_prompt` within it, before the newest `depth_prompt_depth`
    messages. `expand` expands the macros of these texts.
    """

    class DepthRole(models.TextChoices):
        SYSTEM = "system", _("an instruction")
        USER = "user", _("something that the person said")
        ASSISTANT = "assistant", _("something that it said itself")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(User, models.CASCADE, related_name="companions", verbose_name=_("user"))
    name = models.CharField(_("name"), max_length=80)
    nickname = models.CharField(_("nickname in its texts"), max_length=80, blank=True)
    persona = models.TextField(_("persona"), blank=True, max_length=PERSONA_CHARACTERS)
    personality = models.TextField(_("short personality"), blank=True, max_length=TEXT_CHARACTERS)
    scenario = models.TextField(_("scenario"), blank=True, max_length=TEXT_CHARACTERS)
    greeting = models.TextField(_("greeting"), blank=True, max_length=GREETING_CHARACTERS)
    alternate_greetings = ArrayField(
        models.TextField(max_length=GREETING_CHARACTERS),
        verbose_name=_("other greetings"),
        size=MAX_GREETINGS,
        default=list,
        blank=True,
    )
    example_dialogue = models.TextField(_("example dialogue"), blank=True, max_length=TEXT_CHARACTERS)
    system_prompt = models.TextField(
        _("instructions before the persona"), blank=True, max_length=TEXT_CHARACTERS
    )
    post_history_instructions = models.TextField(
        _("instructions after the conversation"), blank=True, max_length=TEXT_CHARACTERS
    )
    depth_prompt = models.TextField(_("note within the conversation"), blank=True, max_length=TEXT_CHARACTERS)
    depth_prompt_depth = models.PositiveSmallIntegerField(
        _("messages after the note"), default=4, validators=[MaxValueValidator(9999)]
    )
    depth_prompt_role = models.CharField(
        _("the note is"), max_length=10, choices=DepthRole, default=DepthRole.SYSTEM
    )
    without_directions = models.BooleanField(_("without stage directions such as *smiles*"), default=False)
    suggestions = ArrayField(  # if empty, the talk offers some of Kith's own
        models.CharField(max_length=200), verbose_name=_("suggested first messages"), default=list, blank=True
    )
    tint = models.PositiveSmallIntegerField(_("tint"), default=40, validators=[MaxValueValidator(359)])
    recall_policy = models.CharField(_("what comes to mind"), max_length=32, choices=CHOICES, default=DEFAULT)
    recall_parameters = models.JSONField(_("parameters of the policy"), default=dict, blank=True)
    idle_hours = models.PositiveSmallIntegerField(
        _("hours of silence that end a session"),
        default=8,
        validators=[MinValueValidator(1), MaxValueValidator(720)],
    )
    # Self-concept and profile take the talk up to this time into account; None if they were never revised.
    understood_until = models.DateTimeField(_("understood until"), null=True, blank=True, editable=False)
    # When something of it was last deleted: what a call of a model showed before is not kept (accounts.limits.usage).
    scrubbed_at = models.DateTimeField(_("last deletion"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    objects = CompanionQuerySet.as_manager()

    class Meta:
        verbose_name = _("companion")
        verbose_name_plural = _("companions")
        ordering = ["-created_at"]
        indexes = [models.Index(fields=["user", "-created_at"], name="companion_user_time")]  # my companions

    def __str__(self) -> str:
        return self.name

    def save(
        self,
        *args: Any,
        update_fields: Iterable[str] | None = None,
        changed_by: str = "other",
        now: datetime | None = None,
        **kwargs: Any,
    ) -> None:
        """Save the companion; if a character field changes, keep the former texts as a CharacterVersion.

        `changed_by` is one of CharacterVersion.By. Version and texts are written in one transaction. Raise DatabaseError
        if a companion that was loaded is gone, instead of creating it again.
        """
        kwargs = forbid_insert(self, kwargs)
        fields = None if update_fields is None else frozenset(update_fields)
        is_written = fields is None or not fields.isdisjoint(CHARACTER_FIELDS)
        if not is_written or self._state.adding:
            super().save(*args, update_fields=fields, **kwargs)
            return
        with transaction.atomic():
            self.versions.keep_former(self, fields, changed_by, now)
            super().save(*args, update_fields=fields, **kwargs)

    @property
    def greetings(self) -> list[str]:
        """All greetings with which a talk may begin; the first may be empty."""
        return [self.greeting, *self.alternate_greetings]

    @property
    def payer(self) -> Payer:
        """To whom the companion's model calls are charged."""
        return Payer(self.user_id, self.pk)

    @property
    def names(self) -> dict[str, str]:
        """The names of the user and of the companion."""
        return {"user": self.user.name, "companion": self.name}

    def expand(
        self,
        text: str,
        nameless: str = "the person",
        *,
        now: datetime | None = None,
        seed: int = 0,
        original: str = "",
    ) -> str:
        """Return `text` with its macros expanded: the names of both (`nameless` for a user without one), the time `now`
        in the user's zone, random choices decided by `seed`, and `original` for `{{original}}`.
        """
        macros = Macros(
            char=one_line(self.nickname or self.name),
            user=one_line(self.user.name) or nameless,
            seed=seed,
            pick_seed=self.pk.int,
            now=now,
            original=original,
        )
        return macros.expand(text)

    @property
    def preference(self) -> Preference:
        """The models that the companion prefers, the user whose own providers may be used, and the context limit.

        Queries the database unless `mind` was loaded with `select_related`.
        """
        mind = getattr(self, "mind", None)
        return replace(mind.preference if mind else NO_PREFERENCE, user_id=self.user_id)

    @property
    def policy(self) -> Policy:
        """The policy by which the companion's memories are scored at recall, with its parameters."""
        try:
            return by_name(self.recall_policy, parameters=self.recall_parameters)
        except PolicyError:  # saved by another version of Kith: recall works with the policy's defaults
            return by_name(self.recall_policy)

    def lock(self) -> bool:
        """Lock the row as the function `lock` does; return False if it is gone."""
        return lock(self.pk)


# -- one writer at a time for each companion


def lock(companion_id: uuid.UUID) -> bool:
    """Lock the companion's row until the transaction ends; return False if the companion is gone.

    The lock (FOR NO KEY UPDATE) still lets others insert rows that refer to the companion.
    """
    row = Companion.objects.filter(pk=companion_id).order_by().select_for_update(no_key=True)
    return bool(row.values_list("pk"))


def hold(companion_id: uuid.UUID) -> Companion | None:
    """Lock the companion and return it with its user, conversation and mind, or None if it is gone.

    It is read after the lock is held, because a locking query returns joined rows as they were before it waited.
    """
    if not lock(companion_id):
        return None
    return Companion.objects.select_related("user", "conversation", "mind").get(pk=companion_id)
