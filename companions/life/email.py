"""The channel `email`: what companions wrote and nobody read, in one mail."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import User
from companions.life.channels import Sent
from companions.models import Delivery, Life


class Email:
    """A digest: it comes a while after the message, and at most every three hours."""

    name = "email"
    gathers = True
    after = timedelta(minutes=15)
    pause = timedelta(hours=3)

    def wanted(self, life: Life) -> bool:
        return life.by_email

    def addresses(self, user: User) -> Sequence[str]:
        return [""]  # a person has one, their account's

    def send(self, deliveries: Sequence[Delivery], now: datetime) -> Sent:
        user = deliveries[0].companion.user
        with translation.override(user.language or "en"):
            mail = EmailMultiAlternatives(_subject(deliveries), _text(deliveries), to=[user.email])
        settings_page = f"{settings.KITH_URL}{reverse('life', args=[deliveries[0].companion_id])}"
        mail.extra_headers["List-Unsubscribe"] = f"<{settings_page}>"
        try:
            mail.send()
        except (SMTPException, OSError):
            return Sent("mail_refused")
        return Sent()


def _subject(deliveries: Sequence[Delivery]) -> str:
    names = list(dict.fromkeys(one.companion.name for one in deliveries))
    if len(deliveries) == 1:
        return _("%(name)s wrote to you") % {"name": _one_line(names[0])}
    told = ngettext("%(count)d message for you", "%(count)d messages for you", len(deliveries))
    return told % {"count": len(deliveries)}


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _text(deliveries: Sequence[Delivery]) -> str:
    lines = [
        {
            "name": _one_line(one.companion.name),
            "text": one.message.text,
            "talk": f"{settings.KITH_URL}{reverse('talk', args=[one.companion_id])}",
            "life": f"{settings.KITH_URL}{reverse('life', args=[one.companion_id])}",
        }
        for one in sorted(deliveries, key=lambda one: one.message.said_at)
    ]
    return render_to_string("life/email.txt", {"lines": lines})
