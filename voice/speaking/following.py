"""The sentence of a number, in what has been said or is being said: waited for until it is complete."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson
from django.utils.translation import gettext_lazy as _

from companions.expressing import felt_at
from companions.models import Message, Reply
from companions.replies.follow import listening
from database.threads import in_thread
from memory.emotion import Emotion
from voice.errors import SpeakingError
from voice.sentences import Sentence, Sentences, sentences_of

Thing = Reply | Message
WAIT_SECONDS = 60.0
CONFLICT = 409


@dataclass(frozen=True, slots=True)
class Told:
    """A sentence, and how it is felt."""

    sentence: Sentence
    emotion: str = Emotion.NEUTRAL.value
    intensity: float = 0.0


class Coming:
    """A reply's text as its frames bring it, looked through for the sentence of a number."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._begin("")

    def take(self, frame: Mapping[str, Any]) -> Told | None:
        """The sentence, once it is complete."""
        match frame["type"]:
            case "reply.started":
                if not frame["text"].startswith(self._text):
                    self._begin("")
                return self._hear(frame["text"][len(self._text) :])
            case "reply.piece":
                return self._hear(frame["text"])
            case "reply.emotion":
                self._emotions.append(frame)
        return None

    def _begin(self, text: str) -> None:
        self._text, self._sentences = text, Sentences()
        self._emotions: list[Mapping[str, Any]] = []

    def _hear(self, text: str) -> Told | None:
        self._text += text
        return _numbered(self._sentences.take(text), self._number, self._emotions)


def text_of(thing: Thing) -> str:
    """The words as they stand now: of a reply those of the answer that it became."""
    if isinstance(thing, Message):
        return thing.text
    return thing.answer.text if thing.answer else thing.text


async def told(thing: Thing, number: int, wait_seconds: float = WAIT_SECONDS) -> Told | None:
    """The sentence of that number; None where there is none, once all is said.

    SpeakingError `not_said_yet` where it is not complete by then: ask again. A reply is to come with its companion
    and its answer, a message with its waking.
    """
    if isinstance(thing, Message) or not thing.is_open:
        return _in(thing, number)
    # Whoever connects to Redis may swallow that they are cancelled: the wait ends all the same.
    coming = asyncio.create_task(_coming(thing, number))
    try:
        await asyncio.wait([coming], timeout=wait_seconds)
        if coming.done():
            return coming.result()
    finally:
        coming.cancel()
    raise SpeakingError("not_said_yet", _("This has not been said yet."), CONFLICT)


async def _coming(reply: Reply, number: int) -> Told | None:
    coming = Coming(number)
    async with listening(reply.companion) as listener:
        async for frame in listener.frames(reply.pk):
            if found := coming.take(orjson.loads(frame)):
                return found
    ended = await in_thread(Reply.objects.select_related("answer").filter(pk=reply.pk).first)
    return _in(ended, number) if ended else None


def _in(thing: Thing, number: int) -> Told | None:
    return _numbered(sentences_of(text_of(thing)), number, _emotions_of(thing))


def _emotions_of(thing: Thing) -> list[Mapping[str, Any]]:
    """What was told with the words: of what was said unprompted, in its waking."""
    if isinstance(thing, Message):
        return thing.waking.emotions if thing.waking else []
    return list(thing.emotions)


def _numbered(
    sentences: Sequence[Sentence], number: int, emotions: Sequence[Mapping[str, Any]]
) -> Told | None:
    found = next((one for one in sentences if one.number == number), None)
    if found is None:
        return None
    felt = felt_at(emotions, found.start)
    return Told(found, str(felt["emotion"]), float(str(felt["intensity"]))) if felt else Told(found)
