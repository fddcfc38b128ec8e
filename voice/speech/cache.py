"""What was made is found again by its digest, and held by what was spoken with it."""

from datetime import datetime
from typing import Any

import structlog
from django.db import IntegrityError, transaction

from companions.access import hold
from companions.models import Companion, Message, Reply
from files.contents import read_content, store_content
from files.errors import FilesError
from files.models import StoredFile
from voice.models import Speech, Spoken
from voice.speech.sentences import Sentence
from voice.speech.spoken_text import Source, read_text
from voice.speech.synthesis import CONTENT_TYPE

log = structlog.get_logger(__name__)


def find(companion: Companion, digest: str) -> tuple[bytes, float] | None:
    """Return what was made before, with its seconds; what has lost its content is dropped, to be made again."""
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
    """Keep the sound of a sentence; where there is no room or no storage, it was heard anyway."""
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
    """Note that the sentence was spoken, with what is there of this digest, or else this file.

    The file goes again where it is not needed, and where the words are not there any more.
    """
    try:
        with transaction.atomic():
            is_used = _note_spoken(source, sentence, digest, file, now)
    except IntegrityError:
        is_used = False
    if file and not is_used:
        file.delete()


def _note_spoken(
    source: Source, sentence: Sentence, digest: str, file: StoredFile | None, now: datetime
) -> bool:
    """Return whether the file is used now."""
    companion = hold(source.companion_id)
    if companion is None or not _is_said(source, sentence):
        return False
    speech = Speech.objects.filter(companion=companion, digest=digest).first()
    is_new = speech is None and file is not None
    if speech is None:
        if file is None:
            return False
        speech = Speech.objects.create(
            companion=companion, digest=digest, file=file, seconds=file.seconds or 0.0, created_at=now
        )
    place: dict[str, Any] = {"reply" if isinstance(source, Reply) else "message": source}
    place["number"] = sentence.number
    before = Spoken.objects.filter(**place).first()
    if before and before.speech_id != speech.pk:
        before.delete()
        before = None
    if before is None:
        Spoken.objects.create(companion=companion, speech=speech, **place)
    return is_new


def _is_said(source: Source, sentence: Sentence) -> bool:
    """Return whether these words still stand there. The row of an open reply may be behind its stream."""
    if isinstance(source, Message):
        message = Message.objects.filter(pk=source.pk).first()
        return message is not None and message.text[sentence.start : sentence.end] == sentence.text
    reply = Reply.objects.select_related("answer").filter(pk=source.pk).first()
    if reply is None:
        return False
    return reply.is_open or read_text(reply)[sentence.start : sentence.end] == sentence.text
