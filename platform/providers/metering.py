"""Counting calls whose usage goes with no answer of its own: whoever wants to know opens a meter around them."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from providers.errors import ProviderError


@dataclass(frozen=True, slots=True)
class Metered:
    """One call: where, with which model, its tokens sent and received, how long it took, the error in which it ended."""

    provider: str
    model: str
    prompt_tokens: int
    is_estimated: bool
    milliseconds: int
    error: ProviderError | None = None
    completion_tokens: int = 0
    cached_tokens: int = 0


_open: ContextVar[list[Metered] | None] = ContextVar("open_meter", default=None)


@contextmanager
def metered() -> Iterator[list[Metered]]:
    """The calls that this thread makes within the block, as they end."""
    calls: list[Metered] = []
    token = _open.set(calls)
    try:
        yield calls
    finally:
        _open.reset(token)


def note(call: Metered) -> None:
    """Tell the open meter of a call; nothing where none is open."""
    calls = _open.get()
    if calls is not None:
        calls.append(call)
