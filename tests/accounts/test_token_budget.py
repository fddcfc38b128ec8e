"""What work beside the talk may spend of a day's tokens, at its exact limits."""

from datetime import timedelta

import pytest

from accounts.limits.usage import waits_until
from accounts.models import User
from tests.accounts.test_gate import NOON, spend

MIDNIGHT = NOON + timedelta(hours=11)  # in Berlin


@pytest.mark.parametrize(
    ("limit", "spent", "waits", "waits_if_asked_for"),
    [
        (100, 0, False, False),
        (100, 50, False, False),
        (100, 51, True, False),
        (100, 99, True, False),
        (100, 100, True, True),
        (5, 2, False, False),
        (5, 3, True, False),
        (0, 0, True, True),
    ],
)
def test_half_of_a_day_is_kept_for_talk_and_what_was_asked_for(
    alice: User, limit: int, spent: int, waits: bool, waits_if_asked_for: bool
) -> None:
    alice.time_zone, alice.tokens_per_day = "Europe/Berlin", limit
    spend(alice, NOON, sent=spent)
    assert waits_until(alice, NOON) == (MIDNIGHT if waits else None)
    assert waits_until(alice, NOON, is_asked_for=True) == (MIDNIGHT if waits_if_asked_for else None)
    assert waits_until(alice, MIDNIGHT) == (MIDNIGHT + timedelta(days=1) if limit == 0 else None)
