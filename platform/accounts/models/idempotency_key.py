from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models.user import User, UserOwnedQuerySet


class IdempotencyKey(models.Model):
    """A record of one write under an Idempotency-Key: the row that it created, and a digest of the request's body.

    A repeated request is answered from that row, so that no content is stored twice.
    """

    user = models.ForeignKey(User, models.CASCADE, related_name="+")
    operation = models.CharField(max_length=80)
    key = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    made_id = models.UUIDField()
    created_at = models.DateTimeField(auto_now_add=True)

    objects = UserOwnedQuerySet.as_manager()

    class Meta:
        verbose_name = _("idempotency key")
        verbose_name_plural = _("idempotency keys")
        constraints = [
            models.UniqueConstraint(fields=["user", "operation", "key"], name="idempotency_key_unique")
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.key}"
