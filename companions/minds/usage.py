"""What a companion's models take a day: from the rows of their calls in the last week, in one query."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import F, Q, Sum

from accounts.models import ModelCall
from companions.models import Companion

SHOWN_DAYS = 7
Purpose = ModelCall.Purpose
IN_TALK = Q(purpose__in=(Purpose.ANSWER, Purpose.WAKING))


@dataclass(frozen=True, slots=True)
class DailyUse:
    """Tokens that a model reads and writes a day, in what the companion says and in the work beside it."""

    model: str
    talk_tokens: int
    background_tokens: int


def measure_daily_use(companion: Companion, now: datetime) -> list[DailyUse]:
    """Return what each chat model took on average of the last SHOWN_DAYS, or of those since the companion was made."""
    days = min(max((now - companion.created_at) / timedelta(days=1), 1), SHOWN_DAYS)
    tokens = F("prompt_tokens") + F("completion_tokens")
    calls = (
        ModelCall.objects.filter(
            user=companion.user_id, companion=companion, started_at__gte=now - timedelta(days=SHOWN_DAYS)
        )
        .exclude(purpose=Purpose.EMBEDDING)
        .values("model")
        .annotate(talk=Sum(tokens, filter=IN_TALK, default=0), every=Sum(tokens, default=0))
        .filter(every__gt=0)
        .order_by("-every")
    )
    return [
        DailyUse(call["model"], round(call["talk"] / days), round((call["every"] - call["talk"]) / days))
        for call in calls
    ]
