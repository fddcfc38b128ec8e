"""Text that a database and a tokeniser can take."""


def storable(text: str) -> str:
    """The text without NULs and lone surrogates, which neither UTF-8 nor Postgres can hold."""
    return text.replace("\x00", "").encode("utf-8", "ignore").decode()
