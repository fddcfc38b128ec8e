"""What goes when its words go: nothing spoken outlasts them, and no speech what was spoken with it."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.signals import post_delete, post_save, pre_delete
from django.dispatch import receiver

from companions.access import hold
from companions.deletion.deletion import messages_hidden
from companions.models import Message, Reply
from files.models import StoredFile
from voice.models import Speech, Spoken, Voice
from voice.speech.sentences import split_sentences

UNHELD_KEPT = timedelta(hours=1)  # what was made a moment ago is about to be noted


@receiver(pre_delete, sender=Message)
def delete_spoken_of_message(instance: Message, **_: object) -> None:
    """The reply that became the message stays; what was spoken of it does not, nor of those that it went on from."""
    of_reply = Q(reply__answer=instance) | Q(reply__isnull=False, reply__text="")
    Spoken.objects.filter(of_reply, companion=instance.companion_id).delete()


@receiver(messages_hidden, sender=Message)
def delete_spoken_of_hidden(companion_id: UUID, ids: Collection[UUID], **_: object) -> None:
    """What the companion is to forget, it has not said aloud: the words on the page can be read aloud anew."""
    of_message = Q(message__in=ids) | Q(reply__answer__in=ids)
    Spoken.objects.filter(of_message, companion=companion_id).delete()


@receiver(post_save, sender=Reply)
def delete_spoken_beyond_end(instance: Reply, created: bool, **_: Any) -> None:
    """Of a reply that has ended, only what it says now stays: what was broken off may have been spoken already."""
    spoken = Spoken.objects.filter(reply=instance)
    if created or instance.is_open or not spoken.exists():
        return
    count = len(split_sentences(instance.text))
    is_whole = instance.state == Reply.State.DONE
    spoken.filter(number__gte=count if is_whole else count - 1).delete()


@receiver(post_delete, sender=Spoken)
def delete_unused_speech(instance: Spoken, **_: object) -> None:
    Speech.objects.filter(pk=instance.speech_id, spoken=None).delete()


@receiver(post_delete, sender=Speech)
def delete_speech_file(instance: Speech, **_: object) -> None:
    StoredFile.objects.filter(pk=instance.file_id).delete()


def sweep_speech(now: datetime, limit: int = 1000) -> int:
    """Delete what nothing holds, and what is older than speech is kept; return how many that were.

    Files without a row are of processes that died before they could say what they are: speech, and recordings that
    nothing imitates.
    """
    is_old = Q(created_at__lt=now - timedelta(days=settings.SPEECH_DAYS))
    is_unheld = Q(spoken=None, created_at__lt=now - UNHELD_KEPT)
    deleted = sum(_delete(speech) for speech in Speech.objects.filter(is_old | is_unheld)[:limit])
    is_speech = Q(kind=StoredFile.Kind.SPEECH, speech=None)
    is_imitated = Exists(Voice.objects.filter(reference=OuterRef("pk")))
    is_reference = Q(~is_imitated, kind=StoredFile.Kind.REFERENCE)
    lone = StoredFile.objects.filter(is_speech | is_reference, created_at__lt=now - UNHELD_KEPT)[:limit]
    for file in lone:
        file.delete()
    return deleted + len(lone)


@transaction.atomic
def _delete(speech: Speech) -> int:
    """Whoever notes that it was spoken once more holds the companion too."""
    hold(speech.companion_id)
    rows = Speech.objects.filter(pk=speech.pk)
    is_there = rows.exists()
    rows.delete()  # with what holds it, whose end may have taken it along already: its own count says nothing
    return int(is_there)
