"""The admin's first page: the numbers of the day."""

from datetime import datetime
from typing import Any

from asgiref.sync import async_to_sync
from django.db.models import Count, Q, Sum
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import ModelCall, SoundCall, User
from companions.models import Companion, Message, Reply
from config.health import checks
from config.troubles import alarms as troubles
from memory.space_admin import alarms

FAILED = (ModelCall.Outcome.UNAVAILABLE, ModelCall.Outcome.REFUSED)


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The page's context with today's numbers, in the operator's time zone, and with what answers now."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    health = async_to_sync(checks)()
    return context | {
        "numbers": numbers(midnight),
        "replies": replies(midnight),
        "health": health,
        "alarms": [*troubles(), *alarms()],
        "is_well": set(health.values()) == {"ok"},
    }


def numbers(since: datetime) -> list[dict[str, Any]]:
    """Each number of the day with its name and, where there is one, the number of all days."""
    people = User.objects.aggregate(all=Count("pk"), new=Count("pk", filter=Q(date_joined__gte=since)))
    companions = Companion.objects.aggregate(
        all=Count("pk"), new=Count("pk", filter=Q(created_at__gte=since))
    )
    said = Message.objects.filter(created_at__gte=since).aggregate(
        all=Count("pk"), people=Count("companion__user", distinct=True)
    )
    calls = ModelCall.objects.since(since).aggregate(
        all=Count("pk"),
        failed=Count("pk", filter=Q(outcome__in=FAILED)),
        sent=Sum("prompt_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        received=Sum("completion_tokens", default=0),
    )
    sound = SoundCall.objects.since(since).used()
    heard = {"heard": f"{sound['seconds_heard']:,.0f}"}
    return [
        {"name": _("People"), "number": people["all"], "more": _("%(new)s new today") % people},
        {"name": _("Companions"), "number": companions["all"], "more": _("%(new)s new today") % companions},
        {
            "name": _("Messages today"),
            "number": said["all"],
            "more": ngettext("of %(people)s person", "of %(people)s people", said["people"]) % said,
        },
        {"name": _("Model calls today"), "number": calls["all"], "more": _("%(failed)s failed") % calls},
        {
            "name": _("Tokens sent today"),
            "number": calls["sent"],
            "more": _("%(cached)s from the cache") % calls,
        },
        {"name": _("Tokens received today"), "number": calls["received"], "more": ""},
        {
            "name": _("Characters spoken today"),
            "number": sound["characters"],
            "more": _("%(heard)s s of speech heard") % heard,
        },
    ]


def replies(since: datetime) -> list[dict[str, Any]]:
    """Today's replies by state, in the order of a reply's life."""
    counted = dict(
        Reply.objects.filter(created_at__gte=since)
        .order_by()
        .values_list("state")
        .annotate(count=Count("pk"))
    )
    return [
        {"state": state.value, "name": state.label, "number": counted.get(state.value, 0)}
        for state in Reply.State
    ]
