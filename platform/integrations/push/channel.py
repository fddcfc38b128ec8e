"""The channel `push`: a notification on each browser that a person has let be notified."""

import base64
from collections.abc import Sequence
from datetime import datetime, timedelta
from email.utils import parseaddr

import orjson
import structlog
from django.conf import settings
from django.db.models import F
from django.urls import reverse
from django.utils import translation
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext as _

from accounts.models import User
from companions.life.outreach import Sent
from companions.models import Delivery, Life, Message
from database.encryption import DecryptionError
from integrations.push.models import Address, Subscription
from integrations.push.subscriptions import is_configured
from providers.guarded_http import OutboundError, send_request
from providers.web_push import WebPushError, build_vapid_header, encrypt, parse_browser_keys
from text.strings import shorten

log = structlog.get_logger(__name__)
BODY_CHARACTERS = 200
# Every payload is this long, so that its length tells nothing of its words; a push service takes 4096 encrypted.
PAYLOAD_BYTES = 3072
LIFETIME = timedelta(days=1)  # at the push service, for a browser that is closed
TIMEOUT_SECONDS = 5.0  # one slow push service holds up everybody's messages
MAX_FAILURES = 10
GONE = {404, 410}
OK = range(200, 300)


class Push:
    """One notification for each message: it waits a moment for whoever reads right now."""

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
        return Sent(send(subscription, delivery.message, now))


def send(subscription: Subscription, message: Message, now: datetime) -> str:
    """Send it once; return the code of what went wrong, or nothing."""
    contact = parseaddr(settings.DEFAULT_FROM_EMAIL)[
        1
    ]  # whom a push service may write to: who sends Kith's mail
    try:
        address = Address.opened(subscription.sealed)
        authorization = build_vapid_header(address.endpoint, settings.VAPID_KEY, contact, now)
    except (DecryptionError, WebPushError) as error:  # the browser is not to blame
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
    if status not in OK:
        return _note_failure(subscription, f"status_{status}")
    # Sealed anew, it opens with the newest key when the older ones are taken away.
    fields = {"used_at": now, "failures": 0, "sealed": address.sealed()}
    Subscription.objects.filter(pk=subscription.pk, sealed=subscription.sealed).update(**fields)
    return ""


def _post(address: Address, authorization: str, message: Message) -> int:
    """Return the status that the push service answers."""
    point, secret = parse_browser_keys(address.p256dh, address.auth)
    with translation.override(message.companion.user.language or "en"):
        body = encrypt(render_payload(message), point, secret)
    # Waiting at the push service, a companion's newer message takes the place of its older one, by 22 characters that
    # tell companions apart and name none.
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
    """Count the failure, and drop a browser that fails often."""
    mine = Subscription.objects.filter(pk=subscription.pk)
    mine.update(failures=F("failures") + 1)
    if mine.filter(failures__gte=MAX_FAILURES).delete()[0]:
        log.info("push_dropped", subscription=str(subscription.pk), code=code)
    return code[:40]


def render_payload(message: Message) -> bytes:
    """Return the notification of a message, as JSON with blanks behind it. Call it in the person's language."""
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
    """Return the text in one line, of 200 characters at most."""
    return shorten(" ".join(text.split()), BODY_CHARACTERS)
