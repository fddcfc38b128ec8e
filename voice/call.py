"""Calls: a chat socket that also takes utterances as bytes. Each becomes a message, and its recording is kept."""

import asyncio
import contextlib
import time
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal
from uuid import UUID

import structlog
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import Field, TypeAdapter

from accounts.errors import RefusedError
from accounts.limits.admission import at_work
from companions.errors import ConflictError
from companions.events import REDIS_UNAVAILABLE, render_saved, tell_companion
from companions.models import Companion, Message
from companions.replies import turn
from companions.replies.actions import break_off
from companions.replies.lifecycle import Start, Started, start
from companions.sockets.consumers import CompanionConsumer
from companions.sockets.frames import FRAMES, Frame, read_frame
from database.queries import DATABASE_UNAVAILABLE, describe_full_disk
from files.errors import FilesError
from jobs.background import get_redis, in_thread
from providers.sound import Sound, SoundError
from providers.sound.sound import read_plain_wav
from providers.transcription import Transcript
from voice.errors import HearingError
from voice.hearing import keep_sound, save_heard, send_recording, transcribe_sound
from voice.models import Recording

MAX_WAITING_UTTERANCES = 4
MAX_SECONDS = 60  # of an utterance
MIN_RATE = 8_000  # samples a second
WITHOUT_WORDS = ("silent", "nothing_heard")  # error codes that are not reported as errors
STORAGE_TIMEOUT_SECONDS = 2.0
RETRY_SECONDS = 1.0  # after which a service that failed is asked once more
SLOW_SECONDS = 5.0  # one that took longer to fail is not: the person waits
FAREWELL_SECONDS = 120  # that transcribing what was said before hanging up may take
HUNG_UP = {1000, 1001}  # codes of a client that closes; the server gives 1005 for a line that fell
CALL_SECONDS = 24 * 3600  # for which a call is known, in which its line may fall and be taken up
log = structlog.get_logger(__name__)


class CallUtterance(Frame):
    """Announces that the next frame of bytes is the utterance with this id; `language` may be empty."""

    type: Literal["call.utterance"]
    client_id: str = Field(min_length=1, max_length=200)
    language: str = Field("", max_length=16)


class ReplyHeard(Frame):
    """Reports that the person interrupted the reply, having heard it up to the offset `until` of its text."""

    type: Literal["reply.heard"]
    id: UUID
    until: int = Field(ge=0, le=2**31 - 1)


class CallBegin(Frame):
    """Begins the call that has this id of the client's; with `again`, goes on with it, as after its line fell."""

    type: Literal["call.begin"]
    call: str = Field(min_length=1, max_length=100)
    again: bool = False


CALL_FRAMES: TypeAdapter[Frame] = TypeAdapter(
    Annotated[FRAMES | CallUtterance | ReplyHeard | CallBegin, Field(discriminator="type")]
)


@dataclass(frozen=True, slots=True)
class Utterance:
    """One utterance of the person's: a WAV file, with the client's id."""

    client_id: str
    language: str
    content: bytes


class CallConsumer(CompanionConsumer):
    """One person's call with one of their companions, within their usual conversation."""

    hearing: asyncio.Task[None] | None = None
    is_over = False
    begun = ""  # the client's id of this call

    async def on_open(self) -> None:
        await super().on_open()
        self.announced: CallUtterance | None = None
        self.said: asyncio.Queue[Utterance] = asyncio.Queue(MAX_WAITING_UTTERANCES)
        self.hearing = asyncio.create_task(self._hear_all())

    async def disconnect(self, code: int) -> None:
        self.is_over = code in HUNG_UP

    async def on_end(self) -> None:
        """Let what was said before hanging up become messages. After a fall the client sends it again."""
        if self.hearing:
            if self.is_over:
                await self._forget_call()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(FAREWELL_SECONDS):
                        await self.said.join()
            self.hearing.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if bytes_data is None:
            await super().receive(text_data)
        elif self.is_open and not await self.is_too_fast():
            self.wait_for_frames()
            announced, self.announced = self.announced, None
            with self.user.use_language():
                if announced is None:
                    await self.send_error(
                        "bad_frame", _("Binary data must follow a call.utterance frame."), None
                    )
                    return
                try:
                    self.said.put_nowait(Utterance(announced.client_id, announced.language, bytes_data))
                except asyncio.QueueFull:
                    detail = _("Kith is still listening to what you said before. Wait a moment.")
                    await self.send_error("too_many_waiting", detail, announced.client_id)

    def read_frame(self, text: str | None) -> Frame:
        return read_frame(text, CALL_FRAMES)

    async def handle_frame(self, frame: Frame) -> None:
        match frame:
            case CallUtterance():
                if self.announced and self.announced.client_id != frame.client_id:
                    detail = _("Binary data must follow a call.utterance frame.")
                    await self.send_error("bad_frame", detail, self.announced.client_id)
                self.announced = frame
            case ReplyHeard():
                async with at_work(self.user.pk):
                    reply = await self.find_reply(frame.id)
                await break_off(reply, frame.until, timezone.now())
            case CallBegin():
                await self._begin(frame)
            case _:
                await super().handle_frame(frame)

    async def _begin(self, begun: CallBegin) -> None:
        """Tell all calls of the companion that this one has begun; with `again`, tell this one which is the newest."""
        newest = begun.call
        with contextlib.suppress(*REDIS_UNAVAILABLE):
            if begun.again:
                newest = await self._find_newest_call() or begun.call
            if newest == begun.call:
                self.begun = begun.call
                await get_redis().set(self._call_key(), begun.call, ex=CALL_SECONDS)
                if not begun.again:
                    await tell_companion(self.companion.pk, {"type": "call.begun", "call": begun.call})
        if begun.again:  # the client may ask only whether the line still leads here
            await self.send_frame({"type": "call.begun", "call": newest})

    async def _forget_call(self) -> None:
        """Forget this call, which is over, if it is the companion's newest."""
        with contextlib.suppress(*REDIS_UNAVAILABLE):
            if self.begun and await self._find_newest_call() == self.begun:
                await get_redis().delete(self._call_key())

    async def _find_newest_call(self) -> str | None:
        found = await get_redis().get(self._call_key())
        return found.decode() if isinstance(found, bytes) else found

    def _call_key(self) -> str:
        return f"kith:call:{self.companion.pk}"

    def _start(self, *message: Any, at_once: bool) -> Started:
        """Start the turn of what was said. Its answer is made to be heard, unless the person has hung up since."""
        return start(*message, at_once=at_once, is_in_call=not self.is_over)

    async def _hear_all(self) -> None:
        """Process queued utterances one after the other, until cancelled."""
        while True:
            said = await self.said.get()
            try:
                with self.user.use_language():
                    frame = await self._hear(said)
                    if frame and self.is_over:
                        await self._tell_what_was_lost(frame)
                    elif frame:
                        with contextlib.suppress(RuntimeError, OSError):  # the line is gone
                            await self.send_frame(frame)
            finally:
                self.said.task_done()

    async def _tell_what_was_lost(self, frame: dict[str, Any]) -> None:
        """Tell the companion's other sockets, such as the open talk's, of an utterance lost after hanging up."""
        if frame["type"] == "error":
            detail = _(
                "Kith could not listen to what you said last in the call. Write it here, or call again."
            )
            await tell_companion(self.companion.pk, {**frame, "detail": detail})

    async def _hear(self, said: Utterance) -> dict[str, Any] | None:
        """Make the utterance a message; return the frame that tells of it, or None if everyone is told anyway."""
        try:
            started = await hear(self.companion, said, self._start)
            if started is None:
                return {"type": "call.nothing", "client_id": said.client_id}
            # A new one is broadcast to every socket, this one included.
            return None if started.is_new else render_saved(started.message, started.reply)
        except RefusedError as error:
            code, detail = error.code, str(error.detail)
        except DATABASE_UNAVAILABLE as error:
            code = "database_away"
            detail = describe_full_disk(error) or _(
                "Kith's database is not answering right now. Send it again in a moment."
            )
        except Exception:  # a failure must not end the next utterances
            log.exception("utterance_failed", companion_id=str(self.companion.pk))
            code, detail = "internal_error", _("Something went wrong here. Say it again.")
        return {"type": "error", "code": code, "detail": detail, "client_id": said.client_id}


async def hear(companion: Companion, utterance: Utterance, begin: Start) -> Started | None:
    """Transcribe the utterance and send it as a message, whose turn `begin` starts.

    Return the message and its reply, or None if it has no words. A repeated `client_id` returns the same message, even
    if it is transcribed otherwise meanwhile. If the recording cannot be stored, the words are sent without it.
    Raise HearingError, GateError, CompanionsError; then nothing is kept.
    """
    if before := await in_thread(_find_sent, companion, utterance.client_id):
        return before
    sound = read_utterance(utterance.content)
    if sound.is_silent:
        return None
    keeping = asyncio.create_task(keep_sound(companion, sound, timezone.now()))
    try:
        heard = await _transcribe(companion, utterance, sound)
        recording = await _await_recording(keeping)
        if recording is None:
            return await turn.send(companion, heard.text, utterance.client_id, timezone.now, begin=begin)
        recording.heard, recording.language = heard.text, heard.language
        await in_thread(save_heard, recording)
        return await send_recording(recording, heard.text, utterance.client_id, timezone.now, begin=begin)
    except RefusedError as error:
        if recording := await _await_recording(keeping):
            unsent = Recording.objects.filter(companion=companion, pk=recording.pk, message=None)
            await in_thread(unsent.delete)
        if isinstance(error, HearingError) and error.code in WITHOUT_WORDS:
            return None
        if isinstance(error, ConflictError) and (
            sent := await in_thread(_find_sent, companion, utterance.client_id)
        ):
            return sent
        raise
    finally:
        keeping.cancel()


async def _transcribe(companion: Companion, utterance: Utterance, sound: Sound) -> Transcript:
    """Return the transcript; raise HearingError, GateError.

    A service that fails at once is asked a second time, so that a short failure does not cost a minute of speech.
    """
    ask = partial(
        transcribe_sound,
        companion.user,
        sound,
        timezone.now,
        language=utterance.language,
        companion=companion,
    )
    began = time.monotonic()
    try:
        try:
            return await ask()
        except HearingError as error:
            if error.code != "transcription_unavailable" or time.monotonic() - began > SLOW_SECONDS:
                raise
            await asyncio.sleep(RETRY_SECONDS)
            return await ask()
    except HearingError as error:
        if error.code in (*WITHOUT_WORDS, "no_transcription"):
            raise
        detail = _("Kith could not listen to this. Say it again in a moment, or write it in the talk.")
        raise HearingError(error.code, detail, error.status) from error


async def _await_recording(keeping: asyncio.Task[Recording]) -> Recording | None:
    """Return the stored recording; None if it could not be stored within STORAGE_TIMEOUT_SECONDS."""
    with contextlib.suppress(FilesError, TimeoutError):
        async with asyncio.timeout(STORAGE_TIMEOUT_SECONDS):
            return await asyncio.shield(keeping)
    return None


def _find_sent(companion: Companion, client_id: str) -> Started | None:
    """Return the message that was sent under this id before, with its reply, or None."""
    mine = Message.objects.filter(companion=companion, role=Message.Role.USER)
    message = mine.filter(client_id=client_id).first()
    return start(companion, message.text, client_id, timezone.now(), is_in_call=True) if message else None


def read_utterance(content: bytes) -> Sound:
    """Return the sound of a plain WAV file, so that nothing else is decoded.

    Raise HearingError for any other file, and if it is too long.
    """
    too_long = _("You can speak for up to %(seconds)s seconds at a time.") % {"seconds": MAX_SECONDS}
    try:
        sound = read_plain_wav(content, MAX_SECONDS)
    except SoundError as error:
        raise HearingError(error.code, too_long if error.code == "too_long" else error.sentence) from error
    if sound is None or sound.rate < MIN_RATE:
        detail = _(
            "A call takes WAV files with one channel, 16 bits per sample and 8,000 to 48,000 samples"
            " per second."
        )
        raise HearingError("no_sound", detail)
    return sound
