"""Subscribing a person's browser to notifications: once each, and for no other person of the same browser."""

from contextlib import suppress
from datetime import datetime

from allauth.account.signals import password_changed, password_reset
from django.conf import settings
from django.db import transaction
from django.dispatch import receiver
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from accounts.models import User
from accounts.models.user import signed_out_elsewhere
from database.encryption import DecryptionError
from integrations.push.models import Address, Subscription
from integrations.push.web_push import WebPushError, derive_public_key, parse_browser_keys
from providers.http.guarded_http import OutboundError, require_public

MAX_DEVICES = 20  # per person
ENDPOINT_CHARACTERS = 2000
CONFLICT = 409


class PushError(RefusedError):
    """The subscription is refused: bad address or keys, too many devices, or notifications are not set up."""


def is_configured() -> bool:
    """Return whether the key that signs notifications is set."""
    return bool(settings.VAPID_KEY)


def get_public_key() -> str | None:
    """Return the public key that browsers subscribe with, in base64url, or None if notifications are not set up."""
    return derive_public_key(settings.VAPID_KEY) if is_configured() else None


def subscribe(user: User, address: Address, browser: str, now: datetime) -> Subscription:
    """Create or update the browser's subscription and return it. Raise PushError if it is refused.

    The same address stops notifying other users, who have signed out of that browser by now.
    """
    if not is_configured():
        raise PushError("push_off", _("Notifications are not set up on this Kith."), CONFLICT)
    try:
        parse_browser_keys(address.p256dh, address.auth)
    except WebPushError as error:
        raise PushError("bad_keys", _("These are not the keys of a browser's subscription.")) from error
    bad_address = _("This is not the address of a push service.")
    if len(address.endpoint) > ENDPOINT_CHARACTERS or not address.endpoint.isascii():
        raise PushError("bad_address", bad_address)
    try:
        require_public(address.endpoint)
    except OutboundError as error:
        # One code for both, or anybody could ask which names Kith's own network knows.
        code = "not_public" if error.code == "no_such_host" else error.code
        raise PushError(code, bad_address) from error
    with transaction.atomic():
        User.objects.select_for_update().get(pk=user.pk)  # serialises the check of MAX_DEVICES
        for other in Subscription.objects.filter(endpoint_digest=address.digest).exclude(user=user):
            # Knowing the keys proves that it is the same browser; knowing another's endpoint alone does not.
            with suppress(DecryptionError):
                if Address.opened(other.sealed) == address:
                    other.delete()
        kept = {"sealed": address.sealed(), "browser": browser, "failures": 0}
        mine = Subscription.objects.owned_by(user)
        if mine.filter(endpoint_digest=address.digest).update(**kept) == 0:
            if mine.count() >= MAX_DEVICES:
                detail = _("You already have notifications on %(most)s devices. Remove one first.")
                raise PushError("too_many_devices", detail % {"most": MAX_DEVICES}, CONFLICT)
            return Subscription.objects.create(
                user=user, endpoint_digest=address.digest, created_at=now, **kept
            )
        return mine.get(endpoint_digest=address.digest)


def unsubscribe(user: User, endpoint: str) -> None:
    """Delete the subscription of the person's browser that has this endpoint, if there is one."""
    digest = Address(endpoint, "", "").digest
    Subscription.objects.owned_by(user).filter(endpoint_digest=digest).delete()


@receiver([password_changed, password_reset, signed_out_elsewhere])
def end_subscriptions(user: User, **_more: object) -> None:
    """Delete the person's subscriptions, of which one may be a thief's or on a lost device.

    A browser that is still signed in subscribes again when a talk is opened in it.
    """
    Subscription.objects.owned_by(user).delete()
