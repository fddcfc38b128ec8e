"""Spans of a person's day. Pure."""

from datetime import datetime, time, timedelta

MINUTE = timedelta(minutes=1)


def within(start: time, end: time, at: time) -> bool:
    """Whether that time of day lies in the span, its end left out; over midnight where it ends before it starts.

    A span whose two ends are the same is none.
    """
    return start <= at < end if start <= end else at >= start or at < end


def next_time(wanted: time, after: datetime) -> datetime:
    """The first moment later than `after` at which clocks there show that time, or the first that follows a gap."""
    for days in (0, 1, 2):
        day = after.date() + timedelta(days=days)
        moment = datetime.combine(day, wanted, after.tzinfo)
        there = datetime.fromtimestamp(moment.timestamp(), after.tzinfo)
        if there > after:
            return there
    raise AssertionError("a day has passed")
