"""A recording becomes a message under the rules of any other, and the message knows how it sounded."""

from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from companions.errors import ConflictError
from companions.models import Companion
from companions.replies import turn
from companions.replies.generation import Clock
from companions.replies.queue import Start, Started, start
from voice.errors import HearingError
from voice.models import Recording


async def send_recording(recording: Recording, text: str, client_id: str | None, clock: Clock) -> Started:
    """Return the message and its reply, which is on its way. Everybody who listens to the companion is told.

    TextError, ConflictError, GateError, HearingError: then nothing is saved, and the recording waits.
    """
    begin = partial(_start, recording.pk)
    return await send_words(recording.companion, text, client_id, clock, begin=begin)


async def send_words(
    companion: Companion, text: str, client_id: str | None, clock: Clock, *, begin: Start = start
) -> Started:
    """Send words without a recording; raise TextError, ConflictError, GateError, and what `begin` raises."""
    return await turn.send(companion, text, client_id, clock, begin=begin)


@transaction.atomic
def _start(
    recording_id: UUID,
    companion: Companion,
    text: str,
    client_id: str | None,
    now: datetime,
    *,
    at_once: bool,
) -> Started:
    """Start as for any message, with the recording belonging to it; the companion is held from there on."""
    started = start(companion, text, client_id, now, at_once=at_once)
    mine = Recording.objects.filter(companion=companion)
    if not mine.filter(pk=recording_id).exists():
        raise HearingError("no_such_recording", _("There is no such recording of yours any more."), 404)
    taken = Q(pk=recording_id, message__isnull=False) | Q(message=started.message)
    if mine.filter(taken).exclude(pk=recording_id, message=started.message).exists():
        raise ConflictError("recording_sent", _("This recording was sent already, or another one with it."))
    mine.filter(pk=recording_id).update(message=started.message)
    return started
