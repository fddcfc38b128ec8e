"""A provider's usage in the last day by hour, and that of all models in the last month: from the rows of their calls."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Aggregate, Count, F, FloatField, Q, Sum
from django.db.models.functions import TruncHour
from django.urls import reverse

from accounts.models import ModelCall, SoundCall, User
from providers.chat_provider import build_provider
from providers.models import Provider

SHOWN_HOURS, SHOWN_DAYS = 24, 30
FAILED_OUTCOMES = ("unavailable", "refused")  # of calls of models and of sound


class Percentile(Aggregate):
    """The percentile `share` (0 to 1) of an expression, interpolated between two values if necessary."""

    function = "percentile_cont"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: str, share: float, **extra: Any) -> None:
        super().__init__(expression, share=share, output_field=FloatField(), **extra)


@dataclass(frozen=True, slots=True)
class Hour:
    """The requests that began in the hour from `began_at`; the seconds count answered requests only."""

    began_at: datetime
    requests: int
    failures: int
    median_seconds: float | None
    slow_seconds: float | None  # the 95th percentile
    tokens: int
    cost: Decimal | None


@dataclass(frozen=True, slots=True)
class ModelUse:
    """The requests to one model at one address, and what their tokens cost by the provider's present prices."""

    model: str
    address: str
    requests: int
    failures: int
    failed: str  # the address of the list of these
    sent: int
    received: int
    cost: Decimal | None


def load_last_month(now: datetime, person: User | None = None) -> list[ModelUse]:
    """Return the use of each chat or embedding model, by the person or by all, in the last `SHOWN_DAYS` days, the
    largest first.
    """
    rows = {(build_provider(row).base_url, row.model): row for row in Provider.objects.all()}
    calls = ModelCall.objects.owned_by(person) if person else ModelCall.objects.all()
    since = now - timedelta(days=SHOWN_DAYS)
    listed = {"outcome__in": ",".join(FAILED_OUTCOMES), "started_at__gte": since.isoformat()}
    listed |= {"user__id__exact": str(person.pk)} if person else {}
    uses = (
        calls.filter(started_at__gte=since)
        .values_list("model", "provider")
        .annotate(
            requests=Count("pk"),
            failures=Count("pk", filter=Q(outcome__in=FAILED_OUTCOMES)),
            sent=Sum("prompt_tokens"),
            received=Sum("completion_tokens"),
        )
        .order_by("-sent", "model")
    )
    found = []
    for model, address, requests, failures, sent, received in uses:
        row = rows.get((address, model))
        cost = row.compute_cost(sent, received) if row else None
        failed = reverse("admin:accounts_modelcall_changelist", query=listed | {"model__exact": model})
        found.append(ModelUse(model, address, requests, failures, failed, sent, received, cost))
    return found


def load_last_day(row: Provider, now: datetime) -> list[Hour]:
    """Return the hours with requests to the row's model at its address, newest first; of Kith's engine, this run's."""
    is_sound = row.capability in SoundCall.Capability.values
    calls: Any = (SoundCall if is_sound else ModelCall).objects
    calls = calls.filter(
        provider=build_provider(row).base_url,
        model=row.model,
        started_at__gte=now - timedelta(hours=SHOWN_HOURS),
    )
    tokens = {"sent": Sum("prompt_tokens"), "received": Sum("completion_tokens")}
    answered = ~Q(outcome__in=FAILED_OUTCOMES)
    hours = (
        calls.annotate(hour=TruncHour("started_at"))
        .values("hour")
        .annotate(
            requests=Count("pk"),
            failures=Count("pk", filter=Q(outcome__in=FAILED_OUTCOMES)),
            median=Percentile("milliseconds", 0.5, filter=answered),
            slow=Percentile("milliseconds", 0.95, filter=answered),
            **({} if is_sound else tokens),
        )
        .order_by(F("hour").desc())
    )
    return [_describe(row, hour) for hour in hours]


def _describe(row: Provider, hour: dict[str, Any]) -> Hour:
    sent, received = hour.get("sent") or 0, hour.get("received") or 0
    cost = row.compute_cost(sent, received)
    median, slow = (value / 1000 if value is not None else None for value in (hour["median"], hour["slow"]))
    return Hour(hour["hour"], hour["requests"], hour["failures"], median, slow, sent + received, cost)
