"""Slots for long tasks: a few at once, and one for each key."""

import pytest

from jobs.slots import Slots


def test_there_is_one_slot_for_each_key() -> None:
    slots = Slots(2)
    with slots.take("Alice") as first, slots.take("Alice") as again, slots.take("Bob") as other:
        assert (first, again, other) == (True, False, True)


def test_no_more_are_taken_than_there_are() -> None:
    slots = Slots(2)
    with slots.take(1), slots.take(2), slots.take(3) as third:
        assert third is False


def test_a_slot_is_given_back_whatever_happens() -> None:
    slots = Slots(1)
    with pytest.raises(ZeroDivisionError), slots.take(1):
        1 / 0  # noqa: B018
    with slots.take(2) as is_free:
        assert is_free
