"""The channel `push`: a notification on each browser that a person has subscribed."""

import base64
from collections.abc import Sequence
from datetime import datetime, timedelta
from email.utils import parseaddr

import orjson
import structlog
from django.conf import settings
from django.db.models import F
from django.urls import reverse
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.models import User
from companions.life.outreach import Sent
from companions.models import Delivery, Life, Message
from database.encryption import DecryptionError
from integrations.push.models import Address, Subscription
from integrations.push.subscriptions import is_configured
from integrations.push.web_push import WebPushError, build_vapid_header, encrypt, parse_browser_keys
from providers.http.guarded_http import OutboundError, send_request
from text.strings import shorten

log = structlog.get_logger(__name__)
BODY_CHARACTERS = 200
# All payloads have this length, so that it reveals nothing about the text; push services accept 4096 bytes encrypted.
PAYLOAD_BYTES = 3072
LIFETIME = timedelta(days=1)  # how long the push service keeps a message for a browser that is closed
TIMEOUT_SECONDS = 5.0  # short, since a slow push service delays others' messages
MAX_FAILURES = 10
GONE = {404, 410}
BUSY = {"status_429", "status_503"}  # RFC 8030: the push service asks for a later try
OK = range(200, 300)


class Push:
    """The channel: one notification for each message, after a few seconds unless the person reads it meanwhile."""

    name = "push"
    gathers = False
    tells_answers = True
    after = timedelta(seconds=5)
    pause = timedelta(0)

    def find_obstacle(self) -> str:
        if is_configured():
            return ""
        return _("Notifications are not set up on this Kith. Its operator can do that.")

    def wanted(self, life: Life) -> bool:
        return life.by_push and is_configured()

    def addresses(self, user: User) -> Sequence[str]:
        return [str(pk) for pk in Subscription.objects.owned_by(user).values_list("pk", flat=True)]

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        (delivery,) = deliveries
        mine = Subscription.objects.owned_by(delivery.companion.user)
        subscription = mine.filter(pk=delivery.destination).first()
        if subscription is None:
            return Sent("gone")
        code = send(subscription, delivery.message, now)
        return Sent(code, is_postponed=code in BUSY)


def send(subscription: Subscription, message: Message, now: datetime) -> str:
    """Send the message as one notification; return the code of what went wrong, or ""."""
    # The contact for push services: the sender address of Kith's mail.
    contact = parseaddr(settings.DEFAULT_FROM_EMAIL)[1]
    try:
        address = Address.opened(subscription.sealed)
        authorization = build_vapid_header(address.endpoint, settings.VAPID_KEY, contact, now)
    except (DecryptionError, WebPushError) as error:  # not the browser's fault, so not counted as its failure
        code = "sealed_otherwise" if isinstance(error, DecryptionError) else "not_signed"
        log.error("push_not_sent", code=code, subscription=str(subscription.pk))
        return code
    try:
        status = _post(address, authorization, message)
    except (OutboundError, WebPushError) as error:
        return _note_failure(subscription, getattr(error, "code", "bad_keys"))
    if status in GONE:
        subscription.delete()
        return "gone"
    code = f"status_{status}"
    if code in BUSY:  # not the browser's fault either
        return code
    if status not in OK:
        return _note_failure(subscription, code)
    # Encrypted again with the newest key, so that it can be read once older keys are removed.
    fields = {"used_at": now, "failures": 0, "sealed": address.sealed()}
    Subscription.objects.filter(pk=subscription.pk, sealed=subscription.sealed).update(**fields)
    return ""


def _post(address: Address, authorization: str, message: Message) -> int:
    """Send the encrypted notification; return the status code of the push service's response."""
    point, secret = parse_browser_keys(address.p256dh, address.auth)
    with message.companion.user.use_language():
        body = encrypt(render_payload(message), point, secret)
    # At the push service, a companion's newer message replaces an older one that still waits. The topic (22 characters)
    # tells companions apart without naming them.
    digest = salted_hmac("push.topic", str(message.companion_id), algorithm="sha256").digest()
    headers = {
        "Authorization": authorization,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int(LIFETIME.total_seconds())),
        "Urgency": "normal",
        "Topic": base64.urlsafe_b64encode(digest[:16]).decode().rstrip("="),
    }
    answer = send_request(
        "POST", address.endpoint, body=body, headers=headers, timeout_seconds=TIMEOUT_SECONDS
    )
    return answer.status


def _note_failure(subscription: Subscription, code: str) -> str:
    """Count the failure, delete a subscription that reaches MAX_FAILURES, and return the code, cut to fit its row."""
    mine = Subscription.objects.filter(pk=subscription.pk)
    mine.update(failures=F("failures") + 1)
    if mine.filter(failures__gte=MAX_FAILURES).delete()[0]:
        log.info("push_dropped", subscription=str(subscription.pk), code=code)
    return code[:40]


def render_payload(message: Message) -> bytes:
    """Return the message's notification as JSON, padded with spaces. Call it with the person's language active."""
    companion = message.companion
    notification = {
        "title": message.sender,
        "body": cut(message.text),
        "url": reverse("talk", args=[companion.pk]),
        "tag": f"companion-{companion.pk}",
        "companion": str(companion.pk),
        "mute": {"title": _("Mute"), "url": reverse("life_mute", args=[companion.pk])},
        "life": reverse("life_settings", args=[companion.pk]),
    }
    return orjson.dumps(notification).ljust(PAYLOAD_BYTES)


def cut(text: str) -> str:
    """Return the text in one line of at most 200 characters."""
    return shorten(" ".join(text.split()), BODY_CHARACTERS)
