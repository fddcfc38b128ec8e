"""Taking recordings: each is weighed apart from this process, and kept before anybody listens to it."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.models import User
from companions.models import Companion
from database.threads import in_thread
from files.keeping import drop, keep
from files.models import StoredFile
from providers.sound import Sound, SoundError, mp3, read_apart
from voice.errors import HearingError
from voice.few import Few
from voice.models import Recording

T = TypeVar("T")
AT_ONCE, OF_ONE_PERSON = 2, 2
CONTENT_TYPE = "audio/mpeg"
_hands = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="recordings")  # decoding takes a whole core
FEW = Few(
    OF_ONE_PERSON,
    "too_many_recordings",
    gettext_lazy("Your recordings before this one are still being listened to. Try again in a moment."),
)


async def take(companion: Companion, content: bytes, now: datetime) -> Recording:
    """The recording that this content is, kept and not yet heard. HearingError, FilesError, GateError: none is kept."""
    return await keep_sound(companion, await sound_of(companion.user, content), now)


async def sound_of(user: User, content: bytes) -> Sound:
    """The sound of what was sent, whatever its name or headers say; HearingError, GateError."""
    with FEW.of(user.pk):
        return await _by_hand(lambda: _read(content))


async def keep_sound(companion: Companion, sound: Sound, now: datetime) -> Recording:
    """The recording of this sound, kept and not yet heard; FilesError."""
    content = await _by_hand(lambda: mp3(sound, {}))
    return await in_thread(_keep, companion, content, sound.seconds, now)


async def _by_hand(work: Callable[[], T]) -> T:
    context = contextvars.copy_context()  # whose language it is
    return await asyncio.get_running_loop().run_in_executor(_hands, context.run, work)


def _read(content: bytes) -> Sound:
    try:
        sound = read_apart(content, settings.AUDIO_SECONDS)
    except SoundError as error:
        longest = error.code == "too_long"
        raise HearingError(error.code, _longest() if longest else error.sentence) from error
    if sound.is_silent:
        raise HearingError("silent", _("Nothing can be heard in this recording. Is the microphone on?"))
    return sound


def _longest() -> str:
    minutes = settings.AUDIO_SECONDS // 60
    words = ngettext(
        "A recording can last %(minutes)s minute.", "A recording can last %(minutes)s minutes.", minutes
    )
    return words % {"minutes": minutes}


def _keep(companion: Companion, content: bytes, seconds: float, now: datetime) -> Recording:
    file = keep(
        companion.user,
        content,
        StoredFile.Kind.RECORDING,
        CONTENT_TYPE,
        now,
        companion=companion,
        seconds=seconds,
    )
    try:
        return Recording.objects.create(companion=companion, file=file, seconds=seconds, created_at=now)
    except DatabaseError:
        drop(file)
        raise
