"""What comes from one address before it is known whose it is: open connections, requests, and large bodies.

They are counted in this process, before a thread, a file or a database connection is used for them.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.utils.translation import gettext as _

from accounts.errors import GateError

RETRY_AFTER_SECONDS = 2
_here: Counter[tuple[str, str]] = Counter()


def arrive(kind: str, address: str) -> bool:
    """Count one more of the kind from the address; False where there are as many as may be."""
    if settings.LIMITS and _here[kind, address] >= settings.OF_ONE_ADDRESS[kind]:
        return False
    _here[kind, address] += 1
    return True


def leave(kind: str, address: str) -> None:
    """Count one less."""
    _here[kind, address] -= 1
    if not _here[kind, address]:
        del _here[kind, address]


@contextmanager
def arriving(kind: str, address: str) -> Iterator[None]:
    """Count one more of the kind from the address within the block; GateError (429) where there are too many."""
    if not arrive(kind, address):
        detail = _("Too much comes from your address at once. Wait a moment, then try again.")
        raise GateError(f"too_many_{kind}_at_once", detail, RETRY_AFTER_SECONDS)
    try:
        yield
    finally:
        leave(kind, address)
