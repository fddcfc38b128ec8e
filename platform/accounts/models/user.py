from functools import cache
from typing import Any, ClassVar, Self, TypeVar
from zoneinfo import ZoneInfo, available_timezones

from django.conf import settings
from django.contrib.auth.models import AbstractUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.dispatch import Signal
from django.utils import translation
from django.utils.translation import gettext_lazy as _

from database.deletions import note_deletions
from database.queries import delete_whole, forbid_insert

account_deleted = Signal()
"""Sent by User with the `user`, within the transaction that deletes the account, just before."""
signed_out_elsewhere = Signal()
"""Sent with the `user`, of whom other devices than the one in use were signed out."""

NO_PLACES = {"Factory", "localtime", "posixrules"}


class UserManager(BaseUserManager["User"]):
    """Creates users with their e-mail address in lower case, and finds them by it regardless of case."""

    def create_user(self, email: str, password: str | None = None, **fields: Any) -> "User":
        user = self.model(email=email.lower(), **fields)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **fields: Any) -> "User":
        return self.create_user(email, password, is_staff=True, is_superuser=True, **fields)

    def get_by_natural_key(self, username: str | None) -> "User":
        return self.get(email__iexact=username)

    def owned_by(self, user: "User") -> models.QuerySet["User"]:
        return self.filter(pk=user.pk)


class AgeGroup(models.TextChoices):
    """The minimum age that is known of a person, youngest first."""

    ANY = "any", _("any age")
    SIXTEEN = "16", _("16 or older")
    ADULT = "adult", _("18 or older")


class User(AbstractUser):
    """A person with an account; staff are operators."""

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField(_("e-mail address"))
    name = models.CharField(_("what companions call you"), max_length=80, blank=True)
    about = models.TextField(_("about you"), blank=True, max_length=2_000)
    time_zone = models.CharField(_("time zone"), max_length=64, default="UTC")
    language = models.CharField(_("language"), max_length=16, blank=True)
    messages_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text=_("Empty: the setting KITH_MESSAGES_PER_MINUTE.")
    )
    tokens_per_day = models.PositiveBigIntegerField(
        null=True, blank=True, help_text=_("Empty: the setting KITH_TOKENS_PER_DAY.")
    )
    age_group = models.CharField(
        _("age group"),
        max_length=8,
        choices=AgeGroup,
        blank=True,
        help_text=_("Empty: the setting KITH_AGES."),
    )

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS: ClassVar[list[str]] = []
    objects: ClassVar[UserManager] = UserManager()  # type: ignore[assignment]

    class Meta:
        verbose_name = _("user")
        verbose_name_plural = _("users")
        permissions = [
            ("set_password", "Can set the password of a user"),
            ("change_address", "Can change the e-mail addresses of a user"),
        ]
        constraints = [models.UniqueConstraint(Lower("email"), name="user_email_unique")]

    def __str__(self) -> str:
        return self.email

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the user; raise DatabaseError if a user that was loaded is gone, instead of creating them again."""
        super().save(*args, **forbid_insert(self, kwargs))

    def delete(self, using: str | None = None, keep_parents: bool = False) -> tuple[int, dict[str, int]]:
        """Delete the account and everything in it; what has receivers of `account_deleted` is deleted by these."""

        def delete() -> tuple[int, dict[str, int]]:
            account_deleted.send(sender=User, user=self)
            note_deletions("account", [f"{self.pk}@{self.date_joined.isoformat()}"])
            return User.objects.filter(pk=self.pk).delete()

        return delete_whole(delete)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.time_zone)

    def use_language(self) -> translation.override:
        """Return a block in which texts are in the user's language; in English until they have chosen one."""
        return translation.override(self.language or "en")

    def is_at_least(self, age: AgeGroup) -> bool:
        """Return whether the person is known to be at least `age`, by their age group or else by KITH_AGES."""
        groups = list(AgeGroup)
        return groups.index(AgeGroup(self.age_group or settings.AGES)) >= groups.index(age)

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email.split("@")[0]


@cache
def list_time_zones() -> tuple[str, ...]:
    """Return the names of the time zones that this machine knows, sorted, except NO_PLACES."""
    return tuple(sorted(available_timezones() - NO_PLACES))


Row = TypeVar("Row", bound=models.Model)


class OwnedQuerySet(models.QuerySet[Row]):
    """Rows that belong to one person, directly or through a companion; `owner` is the lookup path to that person."""

    owner = "companion__user"

    def owned_by(self, user: User) -> Self:
        return self.filter(**{self.owner: user})


class UserOwnedQuerySet(OwnedQuerySet[Row]):
    """Rows with a foreign key `user` to the person that they belong to."""

    owner = "user"
