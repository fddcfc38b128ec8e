import uuid
from typing import Any

from django.conf import settings
from django.db import models

from accounts.models.owned import OwnedQuerySet


class AuditKeyQuerySet(OwnedQuerySet["AuditKey"]):
    owner = "user"


class AuditKey(models.Model):
    """What seals the values that operators searched a person's things by: when the account goes, nobody reads them."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    sealed = models.BinaryField(editable=False)

    objects: Any = AuditKeyQuerySet.as_manager()

    def __str__(self) -> str:
        return str(self.pk)
