"""Finding a sentence of a reply or message by its number, waiting for it while the reply is generated."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from companions.access import get_owned
from companions.answers.emotion_tags import felt_at
from companions.models import Message, Reply
from companions.replies.following import listening
from jobs.background import in_thread
from memory.emotion import Emotion
from voice.errors import SpeakingError
from voice.speech.sentences import Sentence, SentenceStream, split_sentences

Source = Reply | Message
"""Whose words are spoken. A reply comes with its companion and its answer, a message with its waking."""
WAIT_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class FeltSentence:
    """A sentence with its emotion, whose intensity is between 0 and 1."""

    sentence: Sentence
    emotion: str = Emotion.NEUTRAL.value
    intensity: float = 0.0


class _LiveText:
    """Builds up a reply's text from its frames, and looks for the sentence with the given number."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._begin()

    def take(self, frame: Mapping[str, Any]) -> FeltSentence | None:
        """Process a frame; return the sentence if the frame completes it, otherwise None."""
        match frame["type"]:
            case "reply.started":
                if not frame["text"].startswith(self._text):
                    self._begin()
                return self._add(frame["text"][len(self._text) :])
            case "reply.piece":
                return self._add(frame["text"])
            case "reply.emotion":
                self._emotions.append(frame)
        return None

    def _begin(self) -> None:
        self._text, self._stream = "", SentenceStream()
        self._emotions: list[Mapping[str, Any]] = []

    def _add(self, text: str) -> FeltSentence | None:
        self._text += text
        return _pick(self._stream.add(text), self._number, self._emotions)


def get_spoken_reply(user: User, companion_id: UUID, reply_id: UUID) -> Reply:
    return get_owned(user, Reply, "companion__user", "answer", companion=companion_id, pk=reply_id)


def get_spoken_message(user: User, companion_id: UUID, message_id: UUID) -> Source:
    """Return the source to speak for a message: the reply that it was made by, or else the message itself."""
    replies = Reply.objects.owned_by(user).filter(companion=companion_id, answer=message_id)
    if reply := replies.select_related("companion__user", "answer").first():
        return reply
    return get_owned(user, Message, "companion__user", "waking", companion=companion_id, pk=message_id)


def read_text(source: Source) -> str:
    """Return the present text of the source; for a reply with an answer, the answer's text."""
    if isinstance(source, Message):
        return source.text
    return source.answer.text if source.answer else source.text


async def wait_for_sentence(
    source: Source, number: int, wait_seconds: float = WAIT_TIMEOUT_SECONDS
) -> FeltSentence | None:
    """Return the sentence with this number; None if the complete text has none.

    Wait for it while the reply is open; raise SpeakingError `not_said_yet` after `wait_seconds`.
    """
    if isinstance(source, Message) or not source.is_open:
        return _find_sentence(source, number)
    # Connecting to Redis may swallow a cancellation, so do not rely on `wait_for`: this wait ends in any case.
    following = asyncio.create_task(_follow(source, number))
    try:
        await asyncio.wait([following], timeout=wait_seconds)
        if following.done():
            return following.result()
    finally:
        following.cancel()
    raise SpeakingError("not_said_yet", _("This has not been said yet."), status=409)


async def _follow(reply: Reply, number: int) -> FeltSentence | None:
    text = _LiveText(number)
    async with listening(reply.companion) as listener:
        async for frame in listener.frames(reply.pk):
            if frame and (found := text.take(orjson.loads(frame))):
                return found
    ended = await in_thread(Reply.objects.select_related("answer").filter(pk=reply.pk).first)
    return _find_sentence(ended, number) if ended else None


def _find_sentence(source: Source, number: int) -> FeltSentence | None:
    felt_in = source if isinstance(source, Reply) else source.waking  # outreach has its waking's
    emotions = felt_in.emotions if felt_in else []
    return _pick(split_sentences(read_text(source)), number, emotions)


def _pick(
    sentences: Sequence[Sentence], number: int, emotions: Sequence[Mapping[str, Any]]
) -> FeltSentence | None:
    sentence = next((sentence for sentence in sentences if sentence.number == number), None)
    if sentence is None:
        return None
    felt = felt_at(emotions, sentence.start)
    if felt is None:
        return FeltSentence(sentence)
    return FeltSentence(sentence, str(felt["emotion"]), float(str(felt["intensity"])))
