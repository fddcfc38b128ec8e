"""The cache of synthesised speech, by digest. Its uses are recorded, and it is deleted with the words that use it."""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.signals import post_delete, post_save
from django.dispatch import receiver

from companions.deletion.deletion import messages_hidden
from companions.deletion.gaps import messages_deleted
from companions.models import Companion, Message, Reply
from companions.models.companion import hold
from files.contents import read_content, store_content
from files.errors import FilesError
from files.models import StoredFile
from voice.models import Speech, Spoken, Voice
from voice.speech.sentences import Sentence, split_sentences
from voice.speech.spoken_text import Source, read_text
from voice.speech.synthesis import CONTENT_TYPE

GRACE = timedelta(hours=1)  # new speech whose use may not be recorded yet is not swept
SWEEP_BATCH = 1000
log = structlog.get_logger(__name__)


def find(companion: Companion, digest: str) -> tuple[bytes, float] | None:
    """Return the stored sound of this digest and its seconds, or None. If its file is gone, the row is deleted."""
    speech = Speech.objects.select_related("file").filter(companion=companion, digest=digest).first()
    if speech is None:
        return None
    try:
        return read_content(speech.file), speech.seconds
    except FilesError as error:
        log.warning("kept_speech_unreadable", code=error.code, file_id=str(speech.file_id))
        if error.status == 404:
            speech.delete()
        return None


def store(
    source: Source, sentence: Sentence, digest: str, content: bytes, seconds: float, now: datetime
) -> None:
    """Store the sound of a sentence and record its use. If it cannot be stored, only log that: it was heard already."""
    companion, kind = source.companion, StoredFile.Kind.SPEECH
    try:
        file = store_content(
            companion.user, content, kind, CONTENT_TYPE, now, companion=companion, seconds=seconds
        )
    except FilesError as error:
        log.warning("speech_not_kept", code=error.code)
        file = None
    except IntegrityError:
        log.info("speech_of_deleted_companion_not_kept")
        file = None
    note_spoken(source, sentence, digest, file, now)


def note_spoken(
    source: Source, sentence: Sentence, digest: str, file: StoredFile | None, now: datetime
) -> None:
    """Record that the sentence was spoken, with the Speech of this digest or else a new one of this file.

    Delete the file if it is not needed, or if the sentence is no longer in the source.
    """
    try:
        with transaction.atomic():
            is_used = _note_spoken(source, sentence, digest, file, now)
    except IntegrityError:  # may come at the commit, which checks foreign keys
        is_used = False
    if file and not is_used:
        file.delete()


def _note_spoken(
    source: Source, sentence: Sentence, digest: str, file: StoredFile | None, now: datetime
) -> bool:
    """Record the use of the speech; return whether a new Speech uses the file."""
    companion = hold(source.companion_id)
    if companion is None or not _is_said(source, sentence):
        return False
    speech = Speech.objects.filter(companion=companion, digest=digest).first()
    is_new = speech is None
    if speech is None:
        if file is None:
            return False
        speech = Speech.objects.create(
            companion=companion, digest=digest, file=file, seconds=file.seconds or 0.0, created_at=now
        )
    place: dict[str, Any] = {"reply" if isinstance(source, Reply) else "message": source}
    place["number"] = sentence.number
    Spoken.objects.filter(**place).exclude(speech=speech).delete()
    Spoken.objects.get_or_create(**place, defaults={"companion": companion, "speech": speech})
    return is_new


def _is_said(source: Source, sentence: Sentence) -> bool:
    """Return whether the source still has the sentence at its place, or is an open reply, whose row may lag behind."""
    if isinstance(source, Message):
        message = Message.objects.filter(pk=source.pk).first()
        return message is not None and message.text[sentence.start : sentence.end] == sentence.text
    reply = Reply.objects.select_related("answer").filter(pk=source.pk).first()
    if reply is None:
        return False
    return reply.is_open or read_text(reply)[sentence.start : sentence.end] == sentence.text


@receiver(messages_deleted, sender=Message)
def delete_spoken_of_deleted(companion_id: UUID, ids: Collection[UUID], **_: object) -> None:
    """Delete the uses of speech by replies whose answer is deleted, and by replies that have no text left."""
    of_reply = Q(reply__answer__in=ids) | Q(reply__isnull=False, reply__text="")
    Spoken.objects.filter(of_reply, companion=companion_id).delete()


@receiver(messages_hidden, sender=Message)
def delete_spoken_of_hidden(companion_id: UUID, ids: Collection[UUID], **_: object) -> None:
    """Delete the uses of speech by hidden messages. On the page, they can still be read aloud anew."""
    of_message = Q(message__in=ids) | Q(reply__answer__in=ids)
    Spoken.objects.filter(of_message, companion=companion_id).delete()


@receiver(post_save, sender=Reply)
def delete_spoken_beyond_end(instance: Reply, created: bool, **_: Any) -> None:
    """Delete the uses of speech by sentences that an ended reply no longer has, e.g. those after an interruption.

    Unless the reply is complete, its last sentence goes, too, as it may have been cut.
    """
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


def sweep_speech(now: datetime) -> int:
    """Delete speech that is unused or older than KITH_SPEECH_DAYS; return how many items were deleted.

    Also delete files without a row, left by processes that died before they saved it: speech, and reference recordings
    that no voice imitates.
    """
    is_old = Q(created_at__lt=now - timedelta(days=settings.SPEECH_DAYS))
    is_unused = Q(spoken=None, created_at__lt=now - GRACE)
    deleted = sum(_delete(speech) for speech in Speech.objects.filter(is_old | is_unused)[:SWEEP_BATCH])
    is_speech = Q(kind=StoredFile.Kind.SPEECH, speech=None)
    is_imitated = Exists(Voice.objects.filter(reference=OuterRef("pk")))
    is_reference = Q(~is_imitated, kind=StoredFile.Kind.REFERENCE)
    lone = StoredFile.objects.filter(is_speech | is_reference, created_at__lt=now - GRACE)[:SWEEP_BATCH]
    for file in lone:
        file.delete()
    return deleted + len(lone)


@transaction.atomic
def _delete(speech: Speech) -> int:
    """Delete the speech; return 1, or 0 if it was gone. The companion is locked, as it is when a use is recorded."""
    hold(speech.companion_id)
    rows = Speech.objects.filter(pk=speech.pk)
    is_there = rows.exists()
    rows.delete()  # its count is of no use: deleting the uses may have deleted the speech first
    return int(is_there)
