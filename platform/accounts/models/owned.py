from typing import Self, TypeVar

from django.db import models

from accounts.models.user import User

Row = TypeVar("Row", bound=models.Model)


class OwnedQuerySet(models.QuerySet[Row]):
    """Rows that belong to one person, directly or through a companion of theirs; `owner` is the way to that person."""

    owner = "companion__user"

    def owned_by(self, user: User) -> Self:
        return self.filter(**{self.owner: user})


class UserOwnedQuerySet(OwnedQuerySet[Row]):
    """Rows that name their person themselves."""

    owner = "user"
