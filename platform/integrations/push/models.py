"""A browser that takes notifications, and where it is reached."""

import hashlib
import uuid
from dataclasses import asdict, dataclass
from typing import Self

import orjson
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import UserOwnedQuerySet
from database.encryption import decrypt, encrypt


class Subscription(models.Model):
    """One browser of a person that takes notifications.

    `sealed` holds what its push service gave (endpoint, p256dh, auth), encrypted; the endpoint's digest tells
    subscriptions apart. Whoever's push service says that it is gone, or that fails often, is dropped.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="push_subscriptions")
    endpoint_digest = models.CharField(_("digest of its address"), max_length=64)
    sealed = models.BinaryField(_("address and keys, encrypted"))
    browser = models.CharField(_("browser"), max_length=80, blank=True)
    failures = models.PositiveSmallIntegerField(_("failures in a row"), default=0)
    created_at = models.DateTimeField(_("made"))
    used_at = models.DateTimeField(_("last reached"), null=True, blank=True)

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("subscription")
        verbose_name_plural = _("subscriptions")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(fields=["user", "endpoint_digest"], name="push_subscription_once"),
        ]

    def __str__(self) -> str:
        return f"{self.browser} {self.id}"


@dataclass(frozen=True, slots=True)
class Address:
    """Whoever knows the endpoint can send to it; whoever knows the keys can read what is sent."""

    endpoint: str
    p256dh: str
    auth: str

    def sealed(self) -> bytes:
        return encrypt(orjson.dumps(asdict(self)))

    @classmethod
    def opened(cls, sealed: bytes | memoryview) -> Self:
        """DecryptionError where it was sealed with another key."""
        return cls(**orjson.loads(decrypt(sealed)))

    @property
    def digest(self) -> str:
        """Return what tells endpoints apart without telling them: 64 characters."""
        return hashlib.sha256(self.endpoint.encode()).hexdigest()
