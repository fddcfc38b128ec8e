"""The time zones that a person may live in."""

from functools import cache
from zoneinfo import available_timezones

NO_PLACES = {"Factory", "localtime", "posixrules"}


@cache
def zones() -> tuple[str, ...]:
    """The names that this machine knows, in the alphabet's order."""
    return tuple(sorted(available_timezones() - NO_PLACES))
