import hashlib
import secrets
from datetime import datetime, timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import User, UserOwnedQuerySet

PREFIX_LENGTH = 12
USE_RECORDED_AFTER = timedelta(minutes=1)


def digest_of(plaintext: str) -> str:
    """Return the token's SHA-256 in hex. A token has 256 random bits, so no slow hash is needed."""
    return hashlib.sha256(plaintext.encode()).hexdigest()


class TokenQuerySet(UserOwnedQuerySet["Token"]):
    def live(self) -> "TokenQuerySet":
        return self.filter(revoked_at=None, user__is_active=True)

    def matching(self, plaintext: str) -> "Token | None":
        """Return the token, unless it is revoked. Its user's account may be closed."""
        return self.filter(revoked_at=None, digest=digest_of(plaintext)).select_related("user").first()

    def revoke(self, now: datetime) -> int:
        """Revoke the tokens that are not yet revoked, one by one so that signals are sent; return how many."""
        tokens = list(self.filter(revoked_at=None))
        for token in tokens:
            token.revoke(now)
        return len(tokens)

    def issue(self, user: User, name: str, expires_at: datetime | None = None) -> tuple["Token", str]:
        """Create a token; return it and its plaintext, which is shown once and never stored."""
        plaintext = f"kith_{secrets.token_urlsafe(32)}"
        token = self.create(
            user=user,
            name=name,
            prefix=plaintext[:PREFIX_LENGTH],
            digest=digest_of(plaintext),
            expires_at=expires_at,
        )
        return token, plaintext


class Token(models.Model):
    """One person's key to the API. Only a digest is stored, and a prefix by which the person recognises it."""

    user = models.ForeignKey(User, models.CASCADE, related_name="tokens", verbose_name=_("user"))
    name = models.CharField(_("name"), max_length=80)
    prefix = models.CharField(_("begins with"), max_length=PREFIX_LENGTH)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    objects = TokenQuerySet.as_manager()

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    def has_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def touch(self, now: datetime) -> None:
        """Record that the token was used, at most once a minute."""
        if self.last_used_at is None or now - self.last_used_at > USE_RECORDED_AFTER:
            Token.objects.filter(pk=self.pk).update(last_used_at=now)

    def revoke(self, now: datetime) -> None:
        self.revoked_at = now
        self.save(update_fields=["revoked_at"])
