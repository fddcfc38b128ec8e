"""The socket of one companion: frames in, frames out, as the public contract names them."""

import asyncio
import contextlib
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from accounts.admission import at_work
from accounts.errors import RefusedError
from companions.errors import TextError
from companions.events import Event, group_of_companion
from companions.models import Companion, Reply
from companions.replies import actions, frames, turn
from companions.replies.follower import SILENCE_SECONDS, Follower
from companions.sockets.base import PersonSocket
from companions.sockets.frames import Frame, MessageSend, ReplyResume, ReplyStop, read_frame
from database.threads import DATABASE_UNAVAILABLE, in_thread


class CompanionConsumer(PersonSocket):
    """One person's socket to one companion of theirs. What another's socket asks for does not exist."""

    companion: Companion
    look_seconds = SILENCE_SECONDS

    def find(self) -> str | None:
        mine = Companion.objects.owned_by(self.user).select_related("user", "conversation")
        found = mine.filter(pk=self.scope["url_route"]["kwargs"]["companion_id"]).first()
        if found is None:
            return None
        self.companion, self.companion_id = found, found.pk
        return group_of_companion(found.pk)

    async def opened(self) -> None:
        self.name = uuid4().hex
        self.giving, self.follower = asyncio.Lock(), Follower(self.companion)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self.is_open or await self.is_too_fast():
            return
        self.wait_for_frames()
        client_id = None
        try:
            with translation.override(self.user.language or "en"):
                frame = self.read(text_data)
                client_id = getattr(frame, "client_id", None)
                await self.handle(frame)
        except RefusedError as error:
            await self.refuse(error.code, str(error.detail), client_id)
        except DATABASE_UNAVAILABLE:
            with translation.override(self.user.language or "en"):
                detail = _("Kith's database does not answer right now. Send it again in a moment.")
            await self.refuse("database_away", detail, client_id)

    def read(self, text: str | None) -> Frame:
        """Return the frame that came; TextError where it is none that this socket takes."""
        return read_frame(text)

    async def handle(self, frame: Frame) -> None:
        match frame:
            case MessageSend():
                await self.send_message(frame)
            case ReplyStop():
                async with at_work(self.user.pk):
                    await actions.stop(await self.find_reply(frame.id))
            case ReplyResume():
                async with at_work(self.user.pk):
                    await self._resume(await self.find_reply(frame.id), frame.after)

    async def send_message(self, frame: MessageSend) -> None:
        async with self.giving:  # the reply's first frames wait until the message's own has gone out
            started = await turn.send(
                self.companion, frame.text, frame.client_id, timezone.now, but=self.name
            )
            if started.is_new:
                self.follower.begin(started.reply.pk)
            await self.give(frames.saved(started))

    async def _resume(self, reply: Reply, after: int) -> None:
        """Give what follows piece `after`; where its pieces are gone, the text as it is on the row."""
        async with self.giving:
            self.follower.begin(reply.pk, after)
            for frame in await self.follower.catch_up(str(reply.pk)):
                await self.send(frame)

    async def hear(self, event: Event) -> None:
        if event["type"] == "reply.frames":
            async with self.giving:
                for frame in await self.follower.take(event["id"], event["frames"]):
                    await self.send(frame)
        elif event["but"] != self.name:
            await self.send(event["frame"])

    async def look(self) -> None:
        """Look for what was missed of replies that have been silent, as they are when Redis was away."""
        for reply_id in self.follower.silent():
            with contextlib.suppress(DatabaseError):
                async with self.giving:
                    for frame in await self.follower.catch_up(reply_id):
                        await self.send(frame)

    async def refuse(self, code: str, detail: str, client_id: str | None) -> None:
        given: dict[str, Any] = {"client_id": client_id} if client_id else {}
        await self.give({"type": "error", "code": code, "detail": detail, **given})

    async def find_reply(self, reply_id: UUID) -> Reply:
        """Return this companion's reply; TextError where there is none such."""
        mine = Reply.objects.owned_by(self.user).filter(companion=self.companion)
        reply = await in_thread(mine.filter(pk=reply_id).first)
        if reply is None:
            raise TextError("no_such_reply", _("There is no such reply."))
        return reply
