"""What operators see of the whole: the sidebar, the numbers of the day, and what waits for them."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any

from asgiref.sync import async_to_sync
from django.apps import apps
from django.db.models import Count, Q, QuerySet, Sum
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.models import ModelCall, SoundCall, User
from companions.models import Closing, Companion, Message, Reply, Timer, Waking
from config.health import checks
from memory.admin.spaces import alarms
from memory.models import Consolidation

RECENT_WINDOW = timedelta(days=7)


def find_failed_closings() -> QuerySet[Closing]:
    """Those of sessions that are open still and that nobody tries again."""
    open_still = Closing.objects.filter(state=Closing.State.FAILED, session__ended_at=None)
    return open_still.exclude(session__closings__state=Closing.State.WAITING)


def find_failed_consolidations() -> QuerySet[Consolidation]:
    """Those of the last week: a later night looks at what an earlier one did not."""
    since = timezone.now() - RECENT_WINDOW
    return Consolidation.objects.filter(state=Consolidation.State.FAILED, asked_at__gte=since)


def find_failed_wakings() -> QuerySet[Waking]:
    """Those of the last week."""
    since = timezone.now() - RECENT_WINDOW
    return Waking.objects.filter(state=Waking.State.FAILED, due_at__gte=since)


def find_dead_timers() -> QuerySet[Timer]:
    """Those that nobody looks for any more."""
    return Timer.objects.filter(state=Timer.State.DEAD_LETTER)


def list_alerts(may: Callable[[str], bool]) -> list[dict[str, Any]]:
    """For each kind of which there is any, and that one may see, a sentence and where to look."""
    closings, nights = find_failed_closings().count(), find_failed_consolidations().count()
    wakings, timers = find_failed_wakings().count(), find_dead_timers().count()
    told = [
        (
            closings,
            ngettext("%(n)d session could not be closed.", "%(n)d sessions could not be closed.", closings),
            "companions_closing",
            "failed",
        ),
        (
            nights,
            ngettext(
                "%(n)d night of the last week came to nothing.",
                "%(n)d nights of the last week came to nothing.",
                nights,
            ),
            "memory_consolidation",
            "failed",
        ),
        (
            wakings,
            ngettext(
                "%(n)d waking of the last week came to nothing.",
                "%(n)d wakings of the last week came to nothing.",
                wakings,
            ),
            "companions_waking",
            "failed",
        ),
        (
            timers,
            ngettext("%(n)d timer was set aside.", "%(n)d timers were set aside.", timers),
            "companions_timer",
            "set_aside",
        ),
    ]
    return [
        {
            "sentence": words % {"n": count},
            "link": f"{reverse(f'admin:{name}_changelist')}?state__exact={state}",
        }
        for count, words, name, state in told
        if count and may(name.replace("_", ".view_", 1))
    ]


def count_badges() -> dict[str, str]:
    """The number to stand beside a table's name, by its label; none for nothing."""
    counted = {
        "companions.Closing": find_failed_closings().count(),
        "memory.Consolidation": find_failed_consolidations().count(),
        "companions.Waking": find_failed_wakings().count(),
        "companions.Timer": find_dead_timers().count(),
    }
    return {label: str(count) for label, count in counted.items() if count}


Entry = dict[str, Any]


def logo(request: HttpRequest) -> str:
    return static("admin/kith.svg")


def style(request: HttpRequest) -> str:
    return static("admin/kith.css")


def navigation(request: HttpRequest) -> list[Entry]:
    """The groups that hold something this operator may see."""
    rooms = {
        _("People"): {
            "accounts.User": "person",
            "account.EmailAddress": "alternate_email",
            "accounts.Invitation": "mail",
            "accounts.Token": "key",
            "accounts.ModelCall": "data_usage",
            "accounts.SoundCall": "graphic_eq",
            "files.StoredFile": "folder",
        },
        _("Companions"): {
            "companions.Companion": "local_fire_department",
            "companions.Conversation": "forum",
            "companions.Session": "schedule",
            "companions.Closing": "bedtime",
            "companions.Message": "chat_bubble",
            "companions.Reply": "reply",
            "companions.Prompt": "receipt_long",
            "companions.Job": "hourglass_empty",
        },
        _("Lives"): {
            "companions.Life": "nightlight",
            "companions.Waking": "wb_twilight",
            "companions.Timer": "alarm",
            "companions.InnerState": "mood",
            "companions.Delivery": "outgoing_mail",
            "push.Subscription": "notifications",
        },
        _("Voice and face"): {
            "voice.Voice": "record_voice_over",
            "voice.Speech": "volume_up",
            "voice.Spoken": "subtitles",
            "voice.Recording": "mic",
            "companions.Portrait": "face",
            "companions.Picture": "image",
        },
        _("Memory"): {
            "memory.Memory": "bookmark",
            "memory.DiaryEntry": "menu_book",
            "memory.Revision": "history_edu",
            "memory.Slot": "push_pin",
            "memory.Block": "sticky_note_2",
            "memory.Pursuit": "flag",
            "memory.Document": "description",
            "memory.Page": "article",
            "memory.Learning": "school",
            "memory.Retraction": "undo",
            "memory.Consolidation": "dark_mode",
            "memory.Change": "merge",
            "memory.Recall": "search",
            "memory.Recalled": "format_list_numbered",
            "memory.Embedding": "scatter_plot",
            "memory.Space": "grid_view",
        },
        _("Safety"): {
            "safety.AuditEntry": "visibility",
            "safety.Notice": "info",
            "safety.ContinuousUse": "timelapse",
            "safety.OperatorAccess": "key",
            "auth.Group": "group",
        },
    }
    home = {"title": _("Today"), "icon": "today", "link": reverse("admin:index")}
    counted = count_badges()
    groups = [
        {"title": title, "separator": True, "items": _seen(models, request, counted)}
        for title, models in rooms.items()
    ]
    if request.user.has_perm("accounts.view_soundcall"):
        groups.append({"title": _("Services"), "separator": True, "items": [_sound_page()]})
    return [{"items": [home]}, *(group for group in groups if group["items"])]


def _sound_page() -> Entry:
    return {"title": _("Speaking and hearing"), "icon": "hearing", "link": reverse("admin:sound")}


def _seen(models: dict[str, str], request: HttpRequest, counted: Mapping[str, str]) -> list[Entry]:
    return [
        {
            "badge": counted.get(model._meta.label),
            "badge_variant": "danger",
            "title": str(model._meta.verbose_name_plural).capitalize(),
            "icon": icon,
            "link": reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"),
        }
        for model, icon in ((apps.get_model(label), icon) for label, icon in models.items())
        if request.user.has_perm(f"{model._meta.app_label}.view_{model._meta.model_name}")
    ]


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
