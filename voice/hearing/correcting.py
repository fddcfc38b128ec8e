from datetime import datetime

from django.db import transaction

from companions.correcting import correct_message
from companions.text import checked
from voice.models import Recording


@transaction.atomic
def correct(recording: Recording, text: str, now: datetime) -> Recording:
    """The recording, heard as this from now on, with the message that it became; TextError, ReplyStateError."""
    recording.heard = checked(text)
    if recording.message:
        correct_message(recording.message, text, now)
    Recording.objects.filter(companion=recording.companion_id, pk=recording.pk).update(heard=text)
    return recording
