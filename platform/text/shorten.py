"""The one shortener. Pure."""


def shorten(text: str, limit: int) -> str:
    """Return the text, or as much of its beginning as fits into `limit` characters with "…" for the rest."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
