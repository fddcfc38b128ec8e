"""The socket of a call: what a talk's gives and takes, and utterances as bytes."""

import asyncio

import structlog
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from accounts.shares import at_work
from companions.consumers import CompanionConsumer
from companions.replies import frames
from companions.replies.heard import break_off
from companions.socket_frames import Frame, read_frame
from database.threads import DATABASE_UNAVAILABLE
from voice.call.breaking import keep_heard_aloud
from voice.call.frames import CALL, CallUtterance, ReplyHeard
from voice.call.utterances import Utterance, hear

WAITING = 4
log = structlog.get_logger(__name__)


class CallConsumer(CompanionConsumer):
    """One person's call with one companion of theirs. What is said in it stands in the same talk."""

    async def opened(self) -> None:
        await super().opened()
        self.announced: CallUtterance | None = None
        self.said: asyncio.Queue[Utterance] = asyncio.Queue(WAITING)
        self.hearing = asyncio.create_task(self._hear_on())

    async def disconnect(self, code: int) -> None:
        if self.is_open:
            self.hearing.cancel()
        await super().disconnect(code)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if bytes_data is None:
            await super().receive(text_data)
        elif self.is_open and not await self.is_too_fast():
            self.wait_for_frames()
            await self._take(bytes_data)

    def read(self, text: str | None) -> Frame:
        return read_frame(text, CALL)

    async def handle(self, frame: Frame) -> None:
        match frame:
            case CallUtterance():
                self.announced = frame
            case ReplyHeard():
                async with at_work(self.user.pk):
                    reply = await self.reply(frame.id)
                await break_off(reply, frame.until, timezone.now(), keep=keep_heard_aloud)
            case _:
                await super().handle(frame)

    async def _take(self, content: bytes) -> None:
        """Put what was said to what waits to be listened to, in its order."""
        announced, self.announced = self.announced, None
        with translation.override(self.user.language or "en"):
            if announced is None:
                await self.refuse("bad_frame", _("Bytes come after a frame call.utterance."), None)
                return
            try:
                self.said.put_nowait(Utterance(announced.client_id, announced.language, content))
            except asyncio.QueueFull:
                detail = _("What you said before is still being listened to. Wait a moment.")
                await self.refuse("too_many_waiting", detail, announced.client_id)

    async def _hear_on(self) -> None:
        """Listen to one utterance after another, until cancelled."""
        while True:
            said = await self.said.get()
            with translation.override(self.user.language or "en"):
                await self._hear_one(said)

    async def _hear_one(self, said: Utterance) -> None:
        try:
            started = await hear(self.companion, said)
            if started is None:
                await self.give({"type": "call.nothing", "client_id": said.client_id})
            elif not started.is_new:  # a new one is told to everyone, here too
                await self.give(frames.saved(started))
        except RefusedError as error:
            await self.refuse(error.code, str(error.detail), said.client_id)
        except DATABASE_UNAVAILABLE:
            detail = _("Kith's database does not answer right now. Send it again in a moment.")
            await self.refuse("database_away", detail, said.client_id)
        except Exception:  # the outermost loop: the next utterance is listened to all the same
            log.exception("utterance failed", companion_id=str(self.companion.pk))
            await self.refuse("internal_error", _("Something went wrong here. Say it again."), said.client_id)
