"""The admin's home page: what has failed for good, and today's numbers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.db.models import Count, Model, Q, QuerySet, Sum, Value
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import ModelCall, SoundCall, User
from companions.models import (
    Closing,
    Companion,
    GalleryReport,
    GalleryVersion,
    Message,
    Reply,
    Timer,
    Waking,
)
from config.health import run_checks
from memory.admin.spaces import alarms
from memory.models import Consolidation
from providers.selection import get_provider
from safety.provider_usage import FAILED_OUTCOMES

RECENT_WINDOW = timedelta(days=7)


# -- what has failed for good and waits for an operator -----------------------------------------------


def count_failed(since: datetime) -> dict[str, int]:
    """Return the number of failed rows by model label, in one query, as each page of the admin needs them."""
    failed: dict[str, QuerySet[Any]] = {
        "companions.Closing": Closing.objects.abandoned(),
        "memory.Consolidation": Consolidation.objects.unmended().filter(asked_at__gte=since),
        "companions.Waking": Waking.objects.filter(state=Waking.State.FAILED, due_at__gte=since),
        "companions.Timer": Timer.objects.filter(state=Timer.State.DEAD_LETTER),
    }
    first, *others = (
        things.order_by()
        .values(label=Value(label))
        .annotate(number=Count("pk"))
        .values_list("label", "number")
        for label, things in failed.items()
    )
    return dict.fromkeys(failed, 0) | dict(first.union(*others, all=True))


def list_alerts(may: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Return a sentence and a link for each kind of failed rows that there are and that the operator may see.

    `may` tells whether the operator has a permission.
    """
    since = timezone.now() - RECENT_WINDOW
    closings, nights, wakings, timers = count_failed(since).values()
    # Each list shows the rows that its sentence counts.
    failed: list[tuple[type[Model], int, str, dict[str, object]]] = [
        (
            Closing,
            closings,
            ngettext("%(n)d session could not be closed.", "%(n)d sessions could not be closed.", closings),
            {"state__exact": Closing.State.FAILED.value, "is_abandoned": 1},
        ),
        (
            Consolidation,
            nights,
            ngettext(
                "%(n)d night in the last week failed. No later night has made up for it.",
                "%(n)d nights in the last week failed. No later night has made up for them.",
                nights,
            ),
            {"state__exact": Consolidation.State.FAILED.value, "is_unmended": 1, "asked_at__gte": since},
        ),
        (
            Waking,
            wakings,
            ngettext(
                "%(n)d waking in the last week failed.", "%(n)d wakings in the last week failed.", wakings
            ),
            {"state__exact": Waking.State.FAILED.value, "due_at__gte": since},
        ),
        (
            Timer,
            timers,
            ngettext("%(n)d timer was set aside.", "%(n)d timers were set aside.", timers),
            {"state__exact": Timer.State.DEAD_LETTER.value, "is_asleep__exact": 0},
        ),
    ]
    return [
        {"sentence": sentence % {"n": count}, "link": link_list(model, **lookups)}
        for model, count, sentence, lookups in failed
        if count and may(f"{model._meta.app_label}.view_{model._meta.model_name}")
    ]


# -- the numbers of the day ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A number of the day with a link to what it counts, and optionally a second fact with its own link."""

    name: str
    number: int
    link: str
    more: str = ""
    more_link: str = ""


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Return the page's context with today's numbers, in the operator's time zone, alerts and health checks.

    A number is included only if the operator may see the rows that it counts.
    """
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    health, may = async_to_sync(run_checks)(), request.user.has_perm
    return context | {
        "numbers": list(count_today(may, midnight)),
        "replies": count_replies(midnight) if may("companions.view_reply") else [],
        "health": health,
        "parts": describe_health(health),
        "alarms": [*list_alerts(may), *(alarms() if may("memory.view_space") else [])],
        "is_well": set(health.values()) == {"ok"},
    }


def describe_health(health: dict[str, str]) -> list[tuple[str, str, str]]:
    """Return each part's name, the code of its state, and the state in words."""
    names = {
        "database": _("database"),
        "redis": "Redis",
        "worker": _("worker"),
        "beat": _("clock"),
        "disk": _("disk"),
        "chat": _("chat model"),
    }
    # A model's server that responds may refuse its key, or have lost the model.
    failing = {"chat": _("gives no answers"), "disk": _("is almost full, or cannot be read")}
    told = {
        part: (names[part], state, _("works") if state == "ok" else failing.get(part, _("does not respond")))
        for part, state in health.items()
    }
    if get_provider().is_rehearsal:
        told["chat"] = (names["chat"], "degraded", _("is not chosen"))
    return list(told.values())


def link_list(model: type[Model], **lookups: object) -> str:
    """Return the URL of the model's change list in the admin, filtered by lookups that the list allows."""
    query = {
        lookup: value.isoformat() if isinstance(value, datetime) else value
        for lookup, value in lookups.items()
    }
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist", query=query)


def group_numbers(counts: dict[str, int]) -> dict[str, str]:
    """Return the counts as texts with separated thousands."""
    return {name: number_format(count, force_grouping=True) for name, count in counts.items()}


def count_today(may: Callable[[str], bool], since: datetime) -> Iterator[Figure]:
    """Yield the numbers since `since` that the operator may see; `may` tells whether they have a permission."""
    if may("accounts.view_user"):
        people = User.objects.aggregate(all=Count("pk"), new=Count("pk", filter=Q(date_joined__gte=since)))
        yield Figure(
            name=_("People"),
            number=people["all"],
            link=link_list(User),
            more=_("%(new)s new today") % group_numbers(people),
            more_link=link_list(User, date_joined__gte=since),
        )
    if may("companions.view_companion"):
        new = Count("pk", filter=Q(created_at__gte=since))
        companions = Companion.objects.aggregate(all=Count("pk"), new=new)
        yield Figure(
            name=_("Companions"),
            number=companions["all"],
            link=link_list(Companion),
            more=_("%(new)s new today") % group_numbers(companions),
            more_link=link_list(Companion, created_at__gte=since),
        )
    if may("companions.view_galleryversion"):
        waiting = GalleryVersion.State.WAITING
        reports = GalleryReport.objects.filter(settled_at=None).count()
        told = ngettext("%(n)s open report", "%(n)s open reports", reports) % {"n": reports}
        sees_reports = may("companions.view_galleryreport")
        yield Figure(
            name=_("Characters waiting for approval"),
            number=GalleryVersion.objects.filter(state=waiting).count(),
            link=link_list(GalleryVersion, state__exact=waiting.value),
            more=told if sees_reports else "",
            more_link=link_list(GalleryReport, settled_at__isempty=1) if sees_reports else "",
        )
    if may("companions.view_message"):
        # Imported messages were not said today.
        said = Message.everywhere.filter(created_at__gte=since, job=None).aggregate(
            all=Count("pk"), people=Count("companion__user", distinct=True)
        )
        yield Figure(
            name=_("Messages today"),
            number=said["all"],
            link=link_list(Message, created_at__gte=since, job__isempty=1),
            more=ngettext("from %(people)s person", "from %(people)s people", said["people"])
            % group_numbers(said),
        )
    if may("accounts.view_modelcall"):
        yield from _count_calls(since)
    if may("accounts.view_soundcall"):
        yield _count_sound(since)


def _count_calls(since: datetime) -> Iterator[Figure]:
    calls = ModelCall.objects.filter(started_at__gte=since).aggregate(
        all=Count("pk"),
        failed=Count("pk", filter=Q(outcome__in=FAILED_OUTCOMES)),
        sent=Sum("prompt_tokens", default=0),
        cached=Sum("cached_tokens", default=0),
        received=Sum("completion_tokens", default=0),
    )
    link = link_list(ModelCall, started_at__gte=since)
    yield Figure(
        name=_("Model calls today"),
        number=calls["all"],
        link=link,
        more=_("%(failed)s failed") % group_numbers(calls),
        more_link=link_list(ModelCall, started_at__gte=since, outcome__in=",".join(FAILED_OUTCOMES)),
    )
    cached = _("%(cached)s from the cache") % group_numbers(calls)
    yield Figure(name=_("Tokens sent today"), number=calls["sent"], link=link, more=cached, more_link=link)
    yield Figure(name=_("Tokens received today"), number=calls["received"], link=link)


def _count_sound(since: datetime) -> Figure:
    used = SoundCall.objects.filter(started_at__gte=since).used()
    of = SoundCall.Capability
    links = {
        capability: link_list(SoundCall, started_at__gte=since, capability__exact=capability.value)
        for capability in (of.SPEECH, of.TRANSCRIPTION)
    }
    return Figure(
        name=_("Characters spoken today"),
        number=int(used["characters"]),
        link=links[of.SPEECH],
        more=_("%(heard)s s of speech heard") % {"heard": f"{used['seconds_heard']:,.0f}"},
        more_link=links[of.TRANSCRIPTION],
    )


def count_replies(since: datetime) -> list[dict[str, Any]]:
    """Return the number of replies since `since` for each state, in their order, each with a link to the list."""
    replies = Reply.objects.filter(created_at__gte=since).order_by()
    counts = dict(replies.values_list("state").annotate(count=Count("pk")))
    return [
        {
            "state": state.value,
            "name": state.label,
            "number": counts.get(state.value, 0),
            "link": link_list(Reply, created_at__gte=since, state__exact=state.value),
        }
        for state in Reply.State
    ]
