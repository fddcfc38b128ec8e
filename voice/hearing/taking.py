"""Taking recordings: each is weighed apart from this process, and kept before anybody listens to it."""

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

from django.conf import settings
from django.db import DatabaseError
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts.gate import GateError
from accounts.models import User
from companions.models import Companion
from companions.replies.database import visit
from files.keeping import drop, keep
from files.models import StoredFile
from providers.sound import Sound, SoundError, mp3, read_apart
from voice.errors import HearingError
from voice.models import Recording

T = TypeVar("T")
AT_ONCE, OF_ONE_PERSON, WAIT_SECONDS = 2, 2, 5
CONTENT_TYPE = "audio/mpeg"
_hands = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="recordings")  # decoding takes a whole core
_taking: Counter[int] = Counter()


async def take(companion: Companion, content: bytes, now: datetime) -> Recording:
    """The recording that this content is, kept and not yet heard. HearingError, FilesError, GateError: none is kept."""
    return await keep_sound(companion, await sound_of(companion.user, content), now)


async def sound_of(user: User, content: bytes) -> Sound:
    """The sound of what was sent, whatever its name or headers say; HearingError, GateError."""
    with _one_of_few(user):
        return await _by_hand(lambda: _read(content))


async def keep_sound(companion: Companion, sound: Sound, now: datetime) -> Recording:
    """The recording of this sound, kept and not yet heard; FilesError."""
    content = await _by_hand(lambda: mp3(sound, {}))
    return await visit(_keep, companion, content, sound.seconds, now)


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


@contextmanager
def _one_of_few(user: User) -> Iterator[None]:
    """GateError where so many recordings of the person's are being weighed already: others wait for the same hands."""
    if _taking[user.pk] >= OF_ONE_PERSON:
        detail = _("Your recordings before this one are still being listened to. Try again in a moment.")
        raise GateError("too_many_recordings", detail, WAIT_SECONDS)
    _taking[user.pk] += 1
    try:
        yield
    finally:
        _taking[user.pk] -= 1
        if not _taking[user.pk]:
            del _taking[user.pk]


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
