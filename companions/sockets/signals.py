"""Signal handlers that have a person's open sockets, in every process, check whether they may stay open.

They run when a session, a token or an account changes. A socket that is told checks within a second. If Redis is away,
no socket is told, and the check of each socket every SOCKET_CHECKED_SECONDS closes those whose session or token has
ended.
"""

from collections.abc import Collection
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver
from django.utils import timezone

from accounts.models import Token, User
from companions.events import group_of_sockets, publish_on_commit

CHECK = "sockets.check"


def have_sockets_checked(user_id: int) -> None:
    """Have the person's sockets check, after the commit, whether they may stay open."""
    publish_on_commit(group_of_sockets(user_id), {"type": CHECK})


@receiver(post_delete, sender=Session)
def check_after_sign_out(instance: Session, **_more: Any) -> None:
    user_id = instance.get_decoded().get(SESSION_KEY)
    is_swept = instance.expire_date <= timezone.now()  # it has expired, and is only cleaned up
    if user_id is not None and not is_swept:
        have_sockets_checked(int(user_id))


@receiver((post_save, post_delete), sender=Token)
def check_after_revocation(instance: Token, created: bool = False, **_more: Any) -> None:
    if not created:
        have_sockets_checked(instance.user_id)


@receiver((post_save, post_delete), sender=User)
def check_after_change(
    instance: User, created: bool = False, update_fields: Collection[str] | None = None, **_more: Any
) -> None:
    if not created and (update_fields is None or {"is_active", "password"} & set(update_fields)):
        have_sockets_checked(instance.pk)
