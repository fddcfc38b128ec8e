"""Which chat models one companion prefers, in force within a block, as `translation.override` does it for languages.

`providers.selection.get_provider` follows it. Tasks and threads that are started within the block, and see its context
variables, follow it too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preference:
    """The preferred models, by their names in requests, and a limit of context; empty for those of the installation.

    `user_id` is the person whose own providers may be asked in addition to the installation's.
    """

    chat_model: str = ""
    background_model: str = ""
    context_tokens: int | None = None
    user_id: int | None = None


NO_PREFERENCE = Preference()
_preference: ContextVar[Preference] = ContextVar("preference", default=NO_PREFERENCE)


@contextmanager
def preferring(preference: Preference) -> Iterator[None]:
    """Choose providers by this preference within the block."""
    token = _preference.set(preference)
    try:
        yield
    finally:
        _preference.reset(token)


def get_preference() -> Preference:
    """Return the preference of the innermost open block, or NO_PREFERENCE outside of any."""
    return _preference.get()
