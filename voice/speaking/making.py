"""The engine's work on one sentence: in its turn, counted, and marked as generated."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import datetime
from weakref import WeakKeyDictionary, WeakValueDictionary

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import SoundCall
from accounts.sound_usage import admit_speech, note_sound
from companions.models import Companion
from database.threads import in_thread
from providers.errors import ProviderError, ProviderRefused
from providers.sound import GENERATED, Sound, mp3
from providers.speech import Engine, Wanted, said
from voice.errors import SpeakingError

CONTENT_TYPE = "audio/mpeg"
UNAVAILABLE = 503
Clock = Callable[[], datetime]
Slots = WeakValueDictionary[int, asyncio.Semaphore]
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, Slots] = WeakKeyDictionary()


@contextlib.asynccontextmanager
async def _turn(user_id: int) -> AsyncIterator[None]:
    """One of the few places that one person has at the engine from this process."""
    slots = _slots.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
    slot = slots.get(user_id)
    if slot is None:
        slot = slots[user_id] = asyncio.Semaphore(max(1, settings.SPEECH["at_once"]))
    async with slot:
        yield


async def made(companion: Companion, engine: Engine, wanted: Wanted, clock: Clock = timezone.now) -> Sound:
    """The sentence as the engine speaks it; ProviderError where it does not. Left, it stops the engine.

    The gate is asked in its turn once more: many that came at once were each let in while none was counted yet.
    """
    async with _turn(companion.user_id):
        await in_thread(admit_speech, companion.user, len(wanted.text), clock())
        began_at, seconds = clock(), 0.0
        error: BaseException | None = None
        try:
            sound = await said(wanted, engine)
            seconds = sound.seconds
        except (ProviderError, asyncio.CancelledError) as failed:
            error = failed
            raise
        finally:
            noted = in_thread(
                note_sound,
                companion.user_id,
                SoundCall.Capability.SPEECH,
                provider=engine.place,
                model=engine.model or engine.name,
                companion_id=companion.pk,
                characters=len(wanted.text),
                seconds=seconds,
                error=error,
                started_at=began_at,
                ended_at=clock(),
            )
            await asyncio.shield(asyncio.ensure_future(noted))
    return sound


async def in_voice(
    companion: Companion, engine: Engine, wanted: Wanted, clock: Clock = timezone.now
) -> Sound:
    """The same; in the engine's own voice where it refuses the one wanted, which another engine may have had."""
    try:
        try:
            return await made(companion, engine, wanted, clock)
        except ProviderRefused:
            if not wanted.voice:
                raise
        return await made(companion, engine, replace(wanted, voice=""), clock)
    except ProviderError as error:
        words = _("This could not be read aloud just now. The words are all there; try again in a moment.")
        raise SpeakingError("speech_unavailable", words, UNAVAILABLE) from error


async def as_file(sound: Sound) -> bytes:
    """The sound as an MP3 which says that a machine made it."""
    return await asyncio.to_thread(mp3, sound, GENERATED)
