"""The hues that a companion's tint may have on pages; static/css/tokens.css holds their colours."""

STEP = 30
FIRST = 10
PRESETS = tuple(range(FIRST, 360, STEP))


def nearest(hue: int) -> int:
    """The preset next to a hue in degrees, round the circle."""
    return PRESETS[round((hue - FIRST) / STEP) % len(PRESETS)]
