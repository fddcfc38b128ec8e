"""How long a stream is waited for."""

import asyncio
from types import TracebackType
from typing import Self

from providers.errors import ProviderUnavailable


class Clock:
    """When to give up: at `first_piece_by` until the answer has begun, then after some silence.

    `with clock:` stands around each wait for the server, and raises ProviderUnavailable where it takes too long. There
    is one timer for all of a stream's waits, which looks again where the moment has moved on: `asyncio.timeout` for
    each of them took a fifth of the processor time that a read takes.
    """

    def __init__(self, first_piece_by: float, silence_seconds: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._give_up_at, self._silence_seconds = first_piece_by, silence_seconds
        self._timer: asyncio.TimerHandle | None = None
        self._looks_at = first_piece_by
        self._waiting: asyncio.Task[object] | None = None
        self._cancelled_before = 0
        self._is_late = False
        self._has_begun = False

    def go_on(self, *, has_begun: bool) -> None:
        """An event has come, and no mere comment; where the answer has begun, silence is counted from here.

        To be called when reading goes on and not when the event comes: a slow reader is not the server's silence.
        """
        self._has_begun = has_begun
        if not has_begun:
            return
        self._give_up_at = self._loop.time() + self._silence_seconds
        if self._looks_at > self._give_up_at:  # as a first piece is waited for longer than the next
            self.stop()

    def stop(self) -> None:
        """Nothing is waited for any more, or not for so long."""
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def __enter__(self) -> Self:
        self._waiting = asyncio.current_task(self._loop)
        self._cancelled_before = self._waiting.cancelling() if self._waiting else 0
        if self._timer is None:
            self._look_later()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        waiting, is_late = self._waiting, self._is_late
        self._waiting, self._is_late = None, False
        # As asyncio.timeout does it: a cancellation from outside stays one.
        is_ours = is_late and waiting and waiting.uncancel() <= self._cancelled_before
        if is_ours and kind is asyncio.CancelledError:
            raise self._late() from None

    def _look(self) -> None:
        self._timer = None  # where nothing is waited for now, the next wait sets it
        if self._waiting is None:
            return
        if self._loop.time() < self._give_up_at:
            self._look_later()
        else:
            self._is_late = True
            self._waiting.cancel()

    def _look_later(self) -> None:
        self._looks_at = self._give_up_at
        self._timer = self._loop.call_at(self._looks_at, self._look)

    def _late(self) -> ProviderUnavailable:
        what = (
            f"fell silent for {self._silence_seconds:g} s"
            if self._has_begun
            else "gave no first piece in time"
        )
        return ProviderUnavailable(f"The server {what}")
