"""Sending one notification to one browser, and dropping a browser that is gone or fails again and again."""

import base64
from datetime import datetime, timedelta
from email.utils import parseaddr

import structlog
from django.conf import settings
from django.db.models import F
from django.utils import translation
from django.utils.crypto import salted_hmac

from accounts.errors import DecryptionError
from companions.models import Message
from integrations.push.address import Address
from integrations.push.models import Subscription
from integrations.push.notification import payload
from providers.guarded_http import OutboundError, send_request
from providers.web_push import WebPushError, browser_keys, encrypted, signed

log = structlog.get_logger(__name__)
KEPT_FOR = timedelta(days=1)  # by the push service, for a browser that is closed
MOST_SECONDS = 5.0  # one slow push service holds up everybody's messages
MOST_FAILURES = 10
GONE = {404, 410}
OK = range(200, 300)


def send(subscription: Subscription, message: Message, now: datetime) -> str:
    """Send it once; the code of what went wrong, or nothing."""
    try:
        address = Address.opened(subscription.sealed)
        authorization = signed(address.endpoint, settings.VAPID_KEY, _contact(), now)
    except (DecryptionError, WebPushError) as error:  # the browser is not to blame
        code = "sealed_otherwise" if isinstance(error, DecryptionError) else "not_signed"
        log.error("push_not_sent", code=code, subscription=str(subscription.pk))
        return code
    try:
        status = _sent(address, authorization, message)
    except (OutboundError, WebPushError) as error:
        return _failed(subscription, getattr(error, "code", "bad_keys"))
    if status in GONE:
        subscription.delete()
        return "gone"
    if status not in OK:
        return _failed(subscription, f"status_{status}")
    # Sealed anew, it opens with the newest key when the older ones are taken away.
    fields = {"used_at": now, "failures": 0, "sealed": address.sealed()}
    Subscription.objects.filter(pk=subscription.pk, sealed=subscription.sealed).update(**fields)
    return ""


def _sent(address: Address, authorization: str, message: Message) -> int:
    """The status that the push service answers."""
    point, secret = browser_keys(address.p256dh, address.auth)
    with translation.override(message.companion.user.language or "en"):
        body = encrypted(payload(message), point, secret)
    headers = {
        "Authorization": authorization,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int(KEPT_FOR.total_seconds())),
        "Urgency": "normal",
        "Topic": _topic(message),
    }
    return send_request(
        "POST", address.endpoint, body=body, headers=headers, timeout_seconds=MOST_SECONDS
    ).status


def _topic(message: Message) -> str:
    """Waiting at the push service, a companion's newer message takes the place of its older one.

    It is 22 characters that tell companions apart and name none.
    """
    digest = salted_hmac("push.topic", str(message.companion_id), algorithm="sha256").digest()
    return base64.urlsafe_b64encode(digest[:16]).decode().rstrip("=")


def _contact() -> str:
    """Whom a push service may write to: who sends Kith's mail."""
    return parseaddr(settings.DEFAULT_FROM_EMAIL)[1]


def _failed(subscription: Subscription, code: str) -> str:
    """Count it; whoever fails often is dropped."""
    mine = Subscription.objects.filter(pk=subscription.pk)
    mine.update(failures=F("failures") + 1)
    if mine.filter(failures__gte=MOST_FAILURES).delete()[0]:
        log.info("push_dropped", subscription=str(subscription.pk), code=code)
    return code[:40]
