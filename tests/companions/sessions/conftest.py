"""What sessions need: talk with its own times, and the scriptable model."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from companions.models import Closing, Companion, Message
from companions.sessions.closing import run
from companions.sessions.requests import close
from tests.companions.talking import say
from tests.fixtures.clock import clock_at

MORNING = datetime(2023, 5, 2, 9, tzinfo=UTC)
TEA = (
    "I moved to Lisbon with my sister Ana in March.",
    "Lisbon! I will ask you about the trams tomorrow.",
    "I like green tea more than coffee.",
    "I like rainy mornings with tea, too.",
)
GARDEN = (
    "My dog Rufus is 7 years old today.",
    "Happy birthday to Rufus!",
    "I hate the noise of the drill next door.",
    "I hope that it ends soon.",
)
Talk = Callable[..., list[Message]]


@pytest.fixture
def talk() -> Talk:
    """Says texts in turn, the user first, a minute apart from `at` on, in the open session; the messages."""
    return partial(say, at=MORNING)


def ask_to_close(companion: Companion, now: datetime, **how: Any) -> UUID:
    """The id of the closing that was asked for."""
    return Closing.objects.get(job=close(companion, now, **how)).pk


def closed(companion: Companion, now: datetime) -> Closing:
    """The closing after its first run."""
    closing_id = ask_to_close(companion, now)
    run(closing_id, clock_at(now))
    return Closing.objects.select_related("session").get(pk=closing_id)
