"""When things may have happened: times that have a date in every zone, and that every part of Kith can count with."""

from datetime import datetime

FIRST_YEAR, LAST_YEAR = 1000, 8999


def is_moment(at: datetime) -> bool:
    """Whether the time names its zone and lies in the years 1000 to 8999."""
    return at.tzinfo is not None and FIRST_YEAR <= at.year <= LAST_YEAR
