"""Push subscriptions: browsers that receive notifications, and their addresses."""

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
    """One of a user's browsers that receives notifications.

    `sealed` is the encrypted address from its push service (endpoint, p256dh, auth); the endpoint's digest identifies
    it. A subscription is deleted if its push service says that it is gone, or if it fails often.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="push_subscriptions")
    endpoint_digest = models.CharField(_("digest of its address"), max_length=64)
    sealed = models.BinaryField(_("address and keys, encrypted"))
    browser = models.CharField(_("browser"), max_length=80, blank=True)
    failures = models.PositiveSmallIntegerField(_("failures in a row"), default=0)
    created_at = models.DateTimeField(_("created"))
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
    """A subscription's address: with the endpoint anyone can send to it, with the keys read what is sent."""

    endpoint: str
    p256dh: str
    auth: str

    def sealed(self) -> bytes:
        return encrypt(orjson.dumps(asdict(self)))

    @classmethod
    def opened(cls, sealed: bytes | memoryview) -> Self:
        """Return the decrypted address. Raise DecryptionError if it was encrypted with an unknown key."""
        return cls(**orjson.loads(decrypt(sealed)))

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the endpoint, 64 hexadecimal characters."""
        return hashlib.sha256(self.endpoint.encode()).hexdigest()
