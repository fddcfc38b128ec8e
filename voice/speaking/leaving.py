"""What goes when its words go: nothing spoken outlasts them, and no speech what was spoken with it."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.signals import post_delete, post_save, pre_delete
from django.dispatch import receiver

from companions.deletion.hiding import hidden
from companions.locking import hold
from companions.models import Message, Reply
from files.models import StoredFile
from voice.models import Speech, Spoken, Voice
from voice.sentences import sentences_of

UNHELD_AFTER = timedelta(hours=1)  # what was made a moment ago is about to be noted


@receiver(pre_delete, sender=Message)
def _with_its_message(instance: Message, **_: object) -> None:
    """The reply that became the message stays; what was spoken of it does not, nor of those that it went on from."""
    of_reply = Q(reply__answer=instance) | Q(reply__isnull=False, reply__text="")
    Spoken.objects.filter(of_reply, companion=instance.companion_id).delete()


@receiver(hidden, sender=Message)
def _with_its_memory(companion_id: UUID, ids: Collection[UUID], **_: object) -> None:
    """What the companion is to forget, it has not said aloud: the words on the page can be read aloud anew."""
    of_message = Q(message__in=ids) | Q(reply__answer__in=ids)
    Spoken.objects.filter(of_message, companion=companion_id).delete()


@receiver(post_save, sender=Reply)
def _with_its_rest(instance: Reply, created: bool, **_: Any) -> None:
    """Of a reply that has ended, only what it says now: what was broken off may have been spoken ahead."""
    spoken = Spoken.objects.filter(reply=instance)
    if created or instance.is_open or not spoken.exists():
        return
    count = len(sentences_of(instance.text))
    is_whole = instance.state == Reply.State.DONE
    spoken.filter(number__gte=count if is_whole else count - 1).delete()


@receiver(post_delete, sender=Spoken)
def _with_what_was_spoken(instance: Spoken, **_: object) -> None:
    Speech.objects.filter(pk=instance.speech_id, spoken=None).delete()


@receiver(post_delete, sender=Speech)
def _with_its_speech(instance: Speech, **_: object) -> None:
    StoredFile.objects.filter(pk=instance.file_id).delete()


def sweep(now: datetime, most: int = 1000) -> int:
    """How many are gone now of what nothing holds, and of what is older than speech is kept."""
    old = Q(created_at__lt=now - timedelta(days=settings.SPEECH_DAYS))
    unheld = Q(spoken=None, created_at__lt=now - UNHELD_AFTER)
    gone = sum(_drop(speech) for speech in Speech.objects.filter(old | unheld)[:most])
    return gone + _drop_files(_unnamed(now), most)


@transaction.atomic
def _drop(speech: Speech) -> int:
    """Whoever notes that it was spoken once more holds the companion too."""
    hold(speech.companion_id)
    there = Speech.objects.filter(pk=speech.pk)
    is_there = there.exists()
    there.delete()  # with what holds it, whose end may have taken it along already: its own count says nothing
    return int(is_there)


def _unnamed(now: datetime) -> QuerySet[StoredFile]:
    """Files whose process died before it could say what they are: speech, and recordings that nothing imitates."""
    speech = Q(kind=StoredFile.Kind.SPEECH, speech=None)
    is_imitated = Exists(Voice.objects.filter(reference=OuterRef("pk")))
    lone = Q(~is_imitated, kind=StoredFile.Kind.REFERENCE)
    return StoredFile.objects.filter(speech | lone, created_at__lt=now - UNHELD_AFTER)


def _drop_files(files: QuerySet[StoredFile], most: int) -> int:
    gone = list(files[:most])
    for file in gone:
        file.delete()
    return len(gone)
