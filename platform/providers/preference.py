"""What one companion wants of the chat providers, within a block, as `translation.override` does it for languages.

`providers.selection.get_provider` goes by it. All that sees the same context variables does too, as the tasks and threads
that are begun within the block.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Preference:
    """Which models, by the names that requests give them, and at most how much context; empty: the installation's.

    `user_id` is whose own providers may be asked beside the installation's.
    """

    chat_model: str = ""
    background_model: str = ""
    context_tokens: int | None = None
    user_id: int | None = None


NO_PREFERENCE = Preference()
_preference: ContextVar[Preference] = ContextVar("preference", default=NO_PREFERENCE)


@contextmanager
def preferring(preference: Preference) -> Iterator[None]:
    """Have the providers chosen by this preference within the block."""
    token = _preference.set(preference)
    try:
        yield
    finally:
        _preference.reset(token)


def get_preference() -> Preference:
    """Return the preference of the block that is open, one for nothing outside of all."""
    return _preference.get()
