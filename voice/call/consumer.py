"""The socket of a call: what a talk's gives and takes, and utterances as bytes."""

import asyncio
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import structlog
from django.db import transaction
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from pydantic import Field, TypeAdapter

from accounts.admission import at_work
from accounts.errors import RefusedError
from companions.models import Reply
from companions.replies import frames
from companions.replies.actions import break_off, keep_heard
from companions.sockets.consumers import FRAMES, CompanionConsumer, Frame, read_frame
from database.threads import DATABASE_UNAVAILABLE
from voice.call.utterances import Utterance, hear
from voice.models import Spoken
from voice.speech.sentences import split_sentences

MAX_WAITING_UTTERANCES = 4
log = structlog.get_logger(__name__)


class CallUtterance(Frame):
    """The next frame of bytes is what was said under this id, in this language where that is known."""

    type: Literal["call.utterance"]
    client_id: str = Field(min_length=1, max_length=200)
    language: str = Field("", max_length=16)


class ReplyHeard(Frame):
    """The reply was broken off: it was heard until this place in its text."""

    type: Literal["reply.heard"]
    id: UUID
    until: int = Field(ge=0, le=2**31 - 1)


CALL_FRAMES: TypeAdapter[Frame] = TypeAdapter(
    Annotated[FRAMES | CallUtterance | ReplyHeard, Field(discriminator="type")]
)


class CallConsumer(CompanionConsumer):
    """One person's call with one companion of theirs. What is said in it stands in the same talk."""

    async def on_open(self) -> None:
        await super().on_open()
        self.announced: CallUtterance | None = None
        self.said: asyncio.Queue[Utterance] = asyncio.Queue(MAX_WAITING_UTTERANCES)
        self.hearing = asyncio.create_task(self._hear_all())

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

    def read_frame(self, text: str | None) -> Frame:
        return read_frame(text, CALL_FRAMES)

    async def handle_frame(self, frame: Frame) -> None:
        match frame:
            case CallUtterance():
                self.announced = frame
            case ReplyHeard():
                async with at_work(self.user.pk):
                    reply = await self.find_reply(frame.id)
                await break_off(reply, frame.until, timezone.now(), keep=keep_heard_aloud)
            case _:
                await super().handle_frame(frame)

    async def _take(self, content: bytes) -> None:
        """Put what was said to what waits to be listened to, in its order."""
        announced, self.announced = self.announced, None
        with translation.override(self.user.language or "en"):
            if announced is None:
                await self.send_error("bad_frame", _("Bytes come after a frame call.utterance."), None)
                return
            try:
                self.said.put_nowait(Utterance(announced.client_id, announced.language, content))
            except asyncio.QueueFull:
                detail = _("What you said before is still being listened to. Wait a moment.")
                await self.send_error("too_many_waiting", detail, announced.client_id)

    async def _hear_all(self) -> None:
        """Listen to one utterance after another, until cancelled."""
        while True:
            said = await self.said.get()
            with translation.override(self.user.language or "en"):
                await self._hear_one(said)

    async def _hear_one(self, said: Utterance) -> None:
        try:
            started = await hear(self.companion, said)
            if started is None:
                await self.send_frame({"type": "call.nothing", "client_id": said.client_id})
            elif not started.is_new:  # a new one is told to everyone, here too
                await self.send_frame(frames.saved(started))
        except RefusedError as error:
            await self.send_error(error.code, str(error.detail), said.client_id)
        except DATABASE_UNAVAILABLE:
            detail = _("Kith's database does not answer right now. Send it again in a moment.")
            await self.send_error("database_away", detail, said.client_id)
        except Exception:  # the outermost loop: the next utterance is listened to all the same
            log.exception("utterance_failed", companion_id=str(self.companion.pk))
            await self.send_error(
                "internal_error", _("Something went wrong here. Say it again."), said.client_id
            )


@transaction.atomic
def keep_heard_aloud(reply: Reply, until: int, now: datetime) -> Reply | None:
    """Keep what was heard of a reply, as `keep_heard` does; no sentence from the broken one on is kept as sound."""
    kept = keep_heard(reply, until, now)
    if kept and kept.state == Reply.State.STOPPED:
        whole = len(split_sentences(kept.text)) - 1
        Spoken.objects.filter(reply=kept, number__gte=max(whole, 0)).delete()
    return kept
