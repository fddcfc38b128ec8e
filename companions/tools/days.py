"""Days that models name: from the first moment of one in the user's zone to the end of another."""

from datetime import date, datetime, time, timedelta, tzinfo
from typing import Annotated

from pydantic import AfterValidator

from companions.moments import FIRST_YEAR, LAST_YEAR


def _near(day: date) -> date:
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"lies outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return day


Day = Annotated[date, AfterValidator(_near)]


def begins(day: date | None, zone: tzinfo) -> datetime | None:
    return datetime.combine(day, time.min, zone) if day else None


def ends(day: date | None, zone: tzinfo) -> datetime | None:
    """The first moment after the day."""
    return begins(day + timedelta(days=1), zone) if day else None
