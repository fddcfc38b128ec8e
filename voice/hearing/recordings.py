"""Recordings: each is read apart from this process, written anew without what a device put into it, and kept."""

import asyncio
import contextvars
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models.signals import post_delete
from django.dispatch import receiver
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from accounts.errors import RefusedError
from accounts.models import User
from companions.conversations.editing import correct_message
from companions.conversations.messages import check_text
from companions.models import Companion
from database.threads import in_thread
from files.contents import store_content
from files.models import StoredFile
from providers.sound import Sound, SoundError, mp3, read_isolated
from voice.concurrency_limit import ConcurrencyLimit
from voice.errors import HearingError
from voice.models import Recording

T = TypeVar("T")
UNSENT_KEPT = timedelta(days=1)
SWEEP_BATCH = 500
_decoders = ThreadPoolExecutor(2, thread_name_prefix="recordings")  # decoding takes a whole core
LIMIT = ConcurrencyLimit(
    2,
    "too_many_recordings",
    gettext_lazy("Your recordings before this one are still being listened to. Try again in a moment."),
)


async def add_recording(companion: Companion, content: bytes, now: datetime) -> Recording:
    """Keep this content, not yet heard. HearingError, FilesError, GateError: none is kept."""
    return await keep_sound(companion, await read_sound(companion.user, content), now)


async def read_sound(user: User, content: bytes) -> Sound:
    """Return the sound of what was sent, whatever its name or headers say; raise HearingError, GateError."""
    with LIMIT.of(user.pk):
        return await _in_decoder(lambda: _read(content))


async def keep_sound(companion: Companion, sound: Sound, now: datetime) -> Recording:
    """Return the recording of this sound, kept and not yet heard; raise FilesError."""
    content = await _in_decoder(lambda: mp3(sound, {}))
    return await in_thread(_keep, companion, content, sound.seconds, now)


@transaction.atomic
def correct_recording(recording: Recording, text: str, now: datetime) -> Recording:
    """Put right what was heard, also in the message that it became; raise TextError, ReplyStateError."""
    check_text(text)
    recording.heard = text
    if recording.message:
        correct_message(recording.message, text, now)
    Recording.objects.filter(companion=recording.companion_id, pk=recording.pk).update(heard=text)
    return recording


def as_json(recording: Recording, refusal: RefusedError | None = None) -> dict[str, Any]:
    """Return the recording as pages and the API give it; `refusal` is why nothing was heard, though it is kept."""
    return {
        "id": str(recording.pk),
        "text": recording.heard,
        "seconds": round(recording.seconds, 2),
        "language": recording.language,
        "message_id": str(recording.message_id) if recording.message_id else None,
        "file_id": str(recording.file_id),
        "sound": reverse("file", args=[recording.file_id]),
        "created_at": recording.created_at.isoformat(),
        "code": refusal.code if refusal else None,
        "detail": str(refusal.detail) if refusal else None,
    }


def sweep_recordings(now: datetime) -> int:
    """Delete the recordings that were not sent within a day, and sounds that never became one; return how many."""
    since, count = now - UNSENT_KEPT, 0
    unsent = Recording.objects.filter(message=None, created_at__lt=since)
    while ids := list(unsent.values_list("pk", flat=True)[:SWEEP_BATCH]):
        count += len(ids)
        Recording.objects.filter(pk__in=ids, message=None).delete()
    lone = StoredFile.objects.filter(kind=StoredFile.Kind.RECORDING, recording=None, created_at__lt=since)
    return count + lone.delete()[0]


@receiver(post_delete, sender=Recording)
def delete_sound(instance: Recording, **_: object) -> None:
    """Whatever deletes a recording deletes its sound."""
    StoredFile.objects.filter(pk=instance.file_id).delete()


async def _in_decoder(work: Callable[[], T]) -> T:
    context = contextvars.copy_context()  # whose language it is
    return await asyncio.get_running_loop().run_in_executor(_decoders, context.run, work)


def _read(content: bytes) -> Sound:
    try:
        sound = read_isolated(content, settings.AUDIO_SECONDS)
    except SoundError as error:
        detail: str | Promise = error.sentence
        if error.code == "too_long":
            minutes = settings.AUDIO_SECONDS // 60
            detail = ngettext(
                "A recording can last %(minutes)s minute.",
                "A recording can last %(minutes)s minutes.",
                minutes,
            ) % {"minutes": minutes}
        raise HearingError(error.code, detail) from error
    if sound.is_silent:
        raise HearingError("silent", _("Nothing can be heard in this recording. Is the microphone on?"))
    return sound


def _keep(companion: Companion, content: bytes, seconds: float, now: datetime) -> Recording:
    user, kind = companion.user, StoredFile.Kind.RECORDING
    file = store_content(user, content, kind, "audio/mpeg", now, companion=companion, seconds=seconds)
    try:
        return Recording.objects.create(companion=companion, file=file, seconds=seconds, created_at=now)
    except DatabaseError:
        file.delete()
        raise
