"""The admin's first page: the numbers of the day."""

from collections.abc import Callable
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
from config.alerts import list_alerts
from config.health import checks
from memory.admin.spaces import alarms

FAILED = (ModelCall.Outcome.UNAVAILABLE, ModelCall.Outcome.REFUSED)


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """The page's context with today's numbers, in the operator's time zone, and with what answers now.

    Each number is for those alone who may see the things that it counts.
    """
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    health, may = async_to_sync(checks)(), request.user.has_perm
    return context | {
        "numbers": [one for right, count in NUMBERS.items() if may(right) for one in count(midnight)],
        "replies": replies(midnight) if may("companions.view_reply") else [],
        "health": health,
        "alarms": [*list_alerts(may), *(alarms() if may("memory.view_space") else [])],
        "is_well": set(health.values()) == {"ok"},
    }


def _people(since: datetime) -> list[dict[str, Any]]:
    people = User.objects.aggregate(all=Count("pk"), new=Count("pk", filter=Q(date_joined__gte=since)))
    return [{"name": _("People"), "number": people["all"], "more": _("%(new)s new today") % people}]


def _companions(since: datetime) -> list[dict[str, Any]]:
    companions = Companion.objects.aggregate(
        all=Count("pk"), new=Count("pk", filter=Q(created_at__gte=since))
    )
    return [
        {"name": _("Companions"), "number": companions["all"], "more": _("%(new)s new today") % companions}
    ]


def _messages(since: datetime) -> list[dict[str, Any]]:
    said = Message.objects.filter(created_at__gte=since).aggregate(
        all=Count("pk"), people=Count("companion__user", distinct=True)
    )
    more = ngettext("of %(people)s person", "of %(people)s people", said["people"]) % said
    return [{"name": _("Messages today"), "number": said["all"], "more": more}]


def _calls(since: datetime) -> list[dict[str, Any]]:
    calls = ModelCall.objects.since(since).aggregate(
        all=Count("pk"),
        failed=Count("pk", filter=Q(outcome__in=FAILED)),
        sent=Sum("prompt_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        received=Sum("completion_tokens", default=0),
    )
    cached = _("%(cached)s from the cache") % calls
    return [
        {"name": _("Model calls today"), "number": calls["all"], "more": _("%(failed)s failed") % calls},
        {"name": _("Tokens sent today"), "number": calls["sent"], "more": cached},
        {"name": _("Tokens received today"), "number": calls["received"], "more": ""},
    ]


def _sound(since: datetime) -> list[dict[str, Any]]:
    sound = SoundCall.objects.since(since).used()
    more = _("%(heard)s s of speech heard") % {"heard": f"{sound['seconds_heard']:,.0f}"}
    return [{"name": _("Characters spoken today"), "number": sound["characters"], "more": more}]


# The right to see what is counted: the numbers, each with its name and more about it.
NUMBERS: dict[str, Callable[[datetime], list[dict[str, Any]]]] = {
    "accounts.view_user": _people,
    "companions.view_companion": _companions,
    "companions.view_message": _messages,
    "accounts.view_modelcall": _calls,
    "accounts.view_soundcall": _sound,
}


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
