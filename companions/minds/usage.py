"""The tokens and costs a day of a companion's models, computed from their calls in the last week."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F, Q, Sum

from accounts.models import ModelCall
from companions.models import Companion
from providers.models import Provider

SHOWN_DAYS = 7
Purpose = ModelCall.Purpose
IN_TALK = Q(purpose__in=(Purpose.ANSWER, Purpose.WAKING))


@dataclass(frozen=True, slots=True)
class DailyUse:
    """The tokens that a model reads and writes a day, for talk and wakings, and for background work.

    `cost` is the price of all of them by the operator's prices, in the provider's currency; None if none is known.
    """

    model: str
    talk_tokens: int
    background_tokens: int
    cost: Decimal | None

    @property
    def shown_cost(self) -> Decimal | None:
        """The cost, raised to 0.01 if it is lower but not 0, so that it is not shown as 0.00."""
        return max(self.cost, Decimal("0.01")) if self.cost else self.cost


def measure_daily_use(companion: Companion, now: datetime) -> list[DailyUse]:
    """Return the daily use of each model but embedders, averaged over SHOWN_DAYS or, if less, the companion's age.

    An age of less than a day counts as one. Runs two queries.
    """
    days = min(max((now - companion.created_at) / timedelta(days=1), 1), SHOWN_DAYS)
    tokens = F("prompt_tokens") + F("completion_tokens")
    calls = (
        ModelCall.objects.filter(
            user=companion.user_id, companion=companion, started_at__gte=now - timedelta(days=SHOWN_DAYS)
        )
        .exclude(purpose=Purpose.EMBEDDING)
        .values("model", "provider")
        .annotate(
            talk=Sum(tokens, filter=IN_TALK, default=0),
            sent=Sum("prompt_tokens", default=0),
            received=Sum("completion_tokens", default=0),
        )
    )
    priced = Provider.objects.exclude(prompt_price=None, completion_price=None)
    # If a server's model has rows for background work and for chat, the chat's prices win: they come later.
    rows = {(row.base_url, row.model): row for row in priced.order_by("capability")}
    talk, every, costs = Counter[str](), Counter[str](), dict[str, Decimal]()
    for call in calls:
        model, sent, received = call["model"], call["sent"], call["received"]
        talk[model] += call["talk"]
        every[model] += sent + received
        row = rows.get((call["provider"], model))
        cost = row.compute_cost(sent, received) if row else None
        if cost is not None:
            costs[model] = costs.get(model, Decimal()) + cost
    return [
        DailyUse(
            model,
            round(talk[model] / days),
            round((total - talk[model]) / days),
            costs[model] / Decimal(days) if model in costs else None,
        )
        for model, total in every.most_common()
        if total
    ]
