"""Calls of speech and transcription providers are written down, however they end."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any

from accounts.models import SoundCall
from accounts.usage import note_sound
from database.threads import in_thread
from providers.errors import ProviderError

Clock = Callable[[], datetime]


@asynccontextmanager
async def recorded_call(
    user_id: int, capability: SoundCall.Capability, clock: Clock, **fields: Any
) -> AsyncIterator[dict[str, Any]]:
    """Write one call down when it has ended, with these fields and those that were put into the given dictionary."""
    started_at = clock()
    error: BaseException | None = None
    try:
        yield fields
    except (ProviderError, asyncio.CancelledError) as failed:
        error = failed
        raise
    finally:
        fields |= {"error": error, "started_at": started_at, "ended_at": clock()}
        noting = in_thread(note_sound, user_id, capability, **fields)
        await asyncio.shield(asyncio.ensure_future(noting))
