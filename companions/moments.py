"""The range of times that Kith accepts: they have a date in every time zone, and every part of Kith can handle them."""

from datetime import datetime

FIRST_YEAR, LAST_YEAR = 1000, 8999


def is_moment(at: datetime) -> bool:
    """Return whether the time is aware and lies in the years 1000 to 8999."""
    return at.tzinfo is not None and FIRST_YEAR <= at.year <= LAST_YEAR
