from datetime import UTC, datetime, timedelta

import pytest
from pytest_django import Settings

from accounts.errors import GateError
from accounts.limits.rates import admit_to
from accounts.models import User

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
NOBODY_COUNTS = "redis://127.0.0.1:1/0"


@pytest.mark.parametrize("redis_url", [None, NOBODY_COUNTS], ids=["with Redis", "while Redis is away"])
def test_five_documents_a_minute_are_let_in_and_the_sixth_waits_for_the_next(
    alice: User, bob: User, settings: Settings, redis_url: str | None
) -> None:
    settings.REDIS_URL = redis_url or settings.REDIS_URL
    for _ in range(5):
        admit_to(alice, "documents", NOON)
    with pytest.raises(GateError) as caught:
        admit_to(alice, "documents", NOON + timedelta(seconds=20))
    assert (caught.value.code, caught.value.retry_after_seconds) == ("too_many_documents_a_minute", 40)
    assert caught.value.headers == {
        "Retry-After": "40",
        "RateLimit-Policy": '"documents";q=5;w=60',
        "RateLimit": '"documents";r=0;t=40',
    }
    admit_to(bob, "documents", NOON)
    admit_to(alice, "documents", NOON + timedelta(minutes=1))


def test_a_day_has_its_own_limit_beside_the_minute(alice: User, settings: Settings) -> None:
    settings.RATES = {"memories": [(5, 60), (6, 86_400)]}
    for second in range(6):
        admit_to(alice, "memories", NOON + timedelta(minutes=second))
    with pytest.raises(GateError) as caught:
        admit_to(alice, "memories", NOON + timedelta(hours=2))
    assert (caught.value.code, caught.value.retry_after_seconds) == ("too_many_memories_a_day", 10 * 3600)


def test_limits_can_be_switched_off(alice: User, settings: Settings) -> None:
    settings.LIMITS = False
    for _ in range(9):
        admit_to(alice, "documents", NOON)
