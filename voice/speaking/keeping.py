"""Rows and files of what was made: found again by their digest, held by what was spoken with them."""

from datetime import datetime
from typing import Any

import structlog
from django.db import IntegrityError, transaction

from companions.locking import hold
from companions.models import Companion, Message, Reply
from files.errors import FilesError
from files.keeping import content_of, drop, keep
from files.models import StoredFile
from voice.models import Speech, Spoken
from voice.sentences import Sentence
from voice.speaking.following import Thing, text_of
from voice.speaking.making import CONTENT_TYPE

log = structlog.get_logger(__name__)


def found(companion: Companion, digest: str) -> tuple[Speech, bytes] | None:
    """What was made before, with its content; one whose content is lost is gone, and made again."""
    speech = Speech.objects.select_related("file").filter(companion=companion, digest=digest).first()
    if speech is None:
        return None
    try:
        return speech, content_of(speech.file)
    except FilesError as error:
        log.warning("kept speech cannot be read", code=error.code, file_id=str(speech.file_id))
        if error.status == 404:
            speech.delete()
        return None


def kept(
    companion: Companion, digest: str, content: bytes, seconds: float, now: datetime
) -> StoredFile | None:
    """The file with the sound; None where there is no room for it, or no storage just now: it was heard anyway."""
    try:
        return keep(
            companion.user,
            content,
            StoredFile.Kind.SPEECH,
            CONTENT_TYPE,
            now,
            companion=companion,
            seconds=seconds,
        )
    except FilesError as error:
        log.warning("speech is not kept", code=error.code)
    except IntegrityError:  # the companion is gone
        log.info("speech of a deleted companion is not kept")
    return None


def note(thing: Thing, sentence: Sentence, digest: str, file: StoredFile | None, now: datetime) -> None:
    """Note that the sentence was spoken, with what was found of this digest, or else this file.

    The file goes again where it is not needed, and where the words are not there any more.
    """
    try:
        with transaction.atomic():
            is_used = _note(thing, sentence, digest, file, now)
    except IntegrityError:
        is_used = False
    if file and not is_used:
        drop(file)


def _note(thing: Thing, sentence: Sentence, digest: str, file: StoredFile | None, now: datetime) -> bool:
    """Whether the file is used now."""
    companion = hold(thing.companion_id)
    if companion is None or not _is_said(thing, sentence):
        return False
    speech = Speech.objects.filter(companion=companion, digest=digest).first()
    is_new = speech is None and file is not None
    if speech is None and file is not None:
        made = {"seconds": file.seconds or 0.0, "created_at": now}
        speech = Speech.objects.create(companion=companion, digest=digest, file=file, **made)
    if speech is not None:
        _hold(companion, thing, sentence.number, speech)
    return is_new


def _hold(companion: Companion, thing: Thing, number: int, speech: Speech) -> None:
    """The sentence is spoken by this, and by nothing that it was before."""
    place = _place(thing) | {"number": number}
    before = Spoken.objects.filter(**place).first()
    if before and before.speech_id == speech.pk:
        return
    if before:
        before.delete()
    Spoken.objects.create(companion=companion, speech=speech, **place)


def _place(thing: Thing) -> dict[str, Any]:
    return {"reply": thing} if isinstance(thing, Reply) else {"message": thing}


def _is_said(thing: Thing, sentence: Sentence) -> bool:
    """Whether these words still stand there. The row of an open reply may be behind its stream."""
    if isinstance(thing, Message):
        now_there: Thing | None = Message.objects.filter(pk=thing.pk).first()
    else:
        now_there = Reply.objects.select_related("answer").filter(pk=thing.pk).first()
    if now_there is None:
        return False
    if isinstance(now_there, Reply) and now_there.is_open:
        return True
    return text_of(now_there)[sentence.start : sentence.end] == sentence.text
