"""How long ago something was, in words."""

from datetime import timedelta


def render_age(gap: timedelta) -> str:
    """Return how long ago, in the largest unit that fits: "2 days ago", "just now"."""
    for seconds, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        amount = int(gap.total_seconds() // seconds)
        if amount:
            return f"{amount} {unit}{'s' if amount > 1 else ''} ago"
    return "just now"
