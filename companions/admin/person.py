"""The admin page of a user, with their companions, use by day, newest failures and newest replies at its top."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Count, F, OuterRef, QuerySet, Subquery, Sum
from django.db.models.functions import TruncDate
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import ModelCall, User
from companions.events import describe_failure
from companions.models import Companion, Message, Reply
from files.models import StoredFile
from memory.models import Memory
from safety.admin.people import UserAdmin
from safety.audit import get_operator, record
from safety.models import AuditEntry
from safety.provider_usage import load_last_month

DAYS = 14
MAX_COMPANIONS = 50
MAX_REPLIES = 10


@dataclass(frozen=True, slots=True)
class Day:
    """How many messages a user wrote on one day, without imported ones, and how many tokens their companions used."""

    day: date
    messages: int
    tokens: int


def load_companions(person: User) -> QuerySet[Companion]:
    """Return the user's companions, newest first, annotated with the time of their newest message (`last_said_at`)."""
    said = Message.everywhere.filter(companion=OuterRef("pk")).order_by("-said_at", "-id").values("said_at")
    companions = Companion.objects.owned_by(person).annotate(last_said_at=Subquery(said[:1]))
    return companions.only("name", "created_at").order_by("-created_at")


def count_days(person: User, now: datetime) -> list[Day]:
    """Return the use on each of the last `DAYS` days in the active time zone, today first."""
    today = timezone.localtime(now)
    since = today.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=DAYS - 1)
    written = Message.everywhere.owned_by(person).filter(
        role=Message.Role.USER, job=None, created_at__gte=since
    )
    messages = _by_day(written, "created_at", Count("pk"))
    calls = ModelCall.objects.owned_by(person).filter(started_at__gte=since)
    tokens = _by_day(calls, "started_at", Sum(F("prompt_tokens") + F("completion_tokens")))
    days = [today.date() - timedelta(days=back) for back in range(DAYS)]
    return [Day(day, messages.get(day, 0), tokens.get(day, 0)) for day in days]


def _by_day(rows: QuerySet[Any], moment: str, count: Count | Sum) -> dict[date, int]:
    days = rows.order_by().annotate(day=TruncDate(moment)).values("day").annotate(count=count)
    return dict(days.values_list("day", "count"))


def load_replies(person: User) -> QuerySet[Reply]:
    """Return the user's replies, newest first, without loading their texts."""
    replies = Reply.objects.owned_by(person).select_related("companion").order_by("-created_at")
    return replies.only("state", "code", "created_at", "ended_at", "companion__name")


@admin.register(User)
class PersonAdmin(UserAdmin):
    """A user with their companions. Companions' names are private, so opening the page is recorded in the audit log."""

    change_form_outer_before_template = "admin/accounts/person.html"

    def count_deleted(self, people: Any) -> dict[str, int]:
        owned = {Companion: "user", Message: "companion__user", Memory: "companion__user", StoredFile: "user"}
        counts = {
            str(model._meta.verbose_name_plural): model._base_manager.filter(
                **{f"{path}__in": people}
            ).count()
            for model, path in owned.items()
        }
        return super().count_deleted(people) | counts

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: User | None = None,
    ) -> HttpResponse:
        may = request.user.has_perm
        if obj is not None and may("companions.view_companion"):
            record(get_operator(request), AuditEntry.Deed.OPENED, User, obj.pk, obj.pk)
            context |= {"owner_email": obj.email, "companions": load_companions(obj)[:MAX_COMPANIONS]}
            if may("companions.view_message") and may("accounts.view_modelcall"):
                context |= show_use(obj, timezone.now())
            if may("companions.view_reply"):
                context |= show_replies(obj)
        response: HttpResponse = super().render_change_form(request, context, add, change, form_url, obj)
        return response


def show_use(person: User, now: datetime) -> dict[str, Any]:
    """Return the days for the page's table, the largest number in each column, to scale its bars by, and the use and
    cost of each model in the last month.
    """
    days = count_days(person, now)
    return {
        "days": days,
        "most_messages": max(1, *(day.messages for day in days)),
        "most_tokens": max(1, *(day.tokens for day in days)),
        "last_month": load_last_month(now, person),
    }


def show_replies(person: User) -> dict[str, Any]:
    """Return the newest failed replies, each with a description of its error, and the newest replies of any state."""
    replies = load_replies(person)
    failed = replies.filter(state=Reply.State.FAILED)[:MAX_REPLIES]
    return {
        "failures": [(reply, describe_failure(reply.code)) for reply in failed],
        "replies": replies[:MAX_REPLIES],
        "shows_replies": True,
    }
