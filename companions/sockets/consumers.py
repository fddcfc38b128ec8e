"""The sockets of a person: one for each companion that is open, and one for everything else."""

import asyncio
import contextlib
from typing import Any
from uuid import UUID, uuid4

from django.db import DatabaseError
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import RefusedError
from accounts.limits.admission import at_work
from companions.errors import TextError
from companions.events import Event, group_of_companion, group_of_person, hub, render_saved
from companions.life.outreach import count_unread
from companions.models import Companion, Reply
from companions.replies import actions, turn
from companions.replies.following import Follower, silence_seconds
from companions.sockets.frames import (
    Frame,
    MessageSend,
    Ping,
    ReplyResume,
    ReplyStop,
    find_client_id,
    read_frame,
)
from companions.sockets.person_socket import PersonSocket
from database.queries import DATABASE_UNAVAILABLE, describe_full_disk
from jobs.background import in_thread
from safety import notices


class CompanionConsumer(PersonSocket):
    """A person's socket to one of their companions. The companions of others do not exist for it."""

    companion: Companion

    def find_group(self) -> str | None:
        mine = Companion.objects.owned_by(self.user).select_related("user", "conversation")
        found = mine.filter(pk=self.scope["url_route"]["kwargs"]["companion_id"]).first()
        if found is None:
            return None
        self.companion, self.companion_id = found, found.pk
        return group_of_companion(found.pk)

    async def on_open(self) -> None:
        self.name = uuid4().hex
        self.sending, self.follower = asyncio.Lock(), Follower(self.companion)
        self.subscription = hub().subscriptions

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if not self.is_open or await self.is_too_fast():
            return
        self.wait_for_frames()
        client_id = None
        try:
            with self.user.use_language():
                frame = self.read_frame(text_data)
                client_id = getattr(frame, "client_id", None)
                await self.handle_frame(frame)
        except RefusedError as error:
            await self.send_error(error.code, str(error.detail), client_id or find_client_id(text_data))
        except DATABASE_UNAVAILABLE as error:
            with self.user.use_language():
                detail = describe_full_disk(error) or _(
                    "Kith's database is not answering right now. Send it again in a moment."
                )
            await self.send_error("database_away", detail, client_id)

    def read_frame(self, text: str | None) -> Frame:
        """Return the frame; raise TextError if it is not one that this socket accepts."""
        return read_frame(text)

    async def handle_frame(self, frame: Frame) -> None:
        match frame:
            case MessageSend():
                await self.send_message(frame)
            case Ping():
                await self.send_frame({"type": "pong"})
            case ReplyStop():
                async with at_work(self.user.pk):
                    await actions.stop(await self.find_reply(frame.id))
            case ReplyResume():
                async with at_work(self.user.pk):
                    reply = await self.find_reply(frame.id)
                    await self._catch_up(reply.pk, frame.after)

    async def send_message(self, frame: MessageSend) -> None:
        async with self.sending:  # the reply's first frames wait until the message's own has gone out
            started = await turn.send(
                self.companion,
                frame.text,
                frame.client_id,
                timezone.now,
                begin=turn.start_with(frame.attachments, frame.quoted),
                except_socket=self.name,
            )
            if started.is_new:
                self.follower.begin(started.reply.pk)
            await self.send_frame(render_saved(started.message, started.reply))

    async def _catch_up(self, reply_id: UUID | str, after: int | None = None) -> None:
        """Send the frames of the reply that the client has missed, or all after piece `after`.

        If pieces are gone from the stream, the text is sent as it is saved in the database.
        """
        async with self.sending:
            if after is not None:
                self.follower.begin(reply_id, after)
            for frame in await self.follower.catch_up(str(reply_id)):
                await self.send(frame)

    async def handle_event(self, event: Event) -> None:
        if event["type"] == "reply.frames":
            async with self.sending:
                for frame in await self.follower.take(event["id"], event["frames"]):
                    await self.send(frame)
        elif event["except_socket"] != self.name:
            await self.send(event["frame"])

    def poll_seconds(self) -> float:
        return silence_seconds()

    async def poll(self) -> None:
        """Send what was missed of replies that have been silent for a while, as happens if Redis was away; once it is
        back, tell the client that other events may be missing as well.
        """
        if self.subscription != hub().subscriptions:
            self.subscription = hub().subscriptions
            await self.send_frame({"type": "messages.missed"})
        for reply_id in self.follower.find_silent():
            with contextlib.suppress(DatabaseError):
                await self._catch_up(reply_id)

    async def send_error(self, code: str, detail: str, client_id: str | None) -> None:
        given: dict[str, Any] = {"client_id": client_id} if client_id else {}
        await self.send_frame({"type": "error", "code": code, "detail": detail, **given})

    async def find_reply(self, reply_id: UUID) -> Reply:
        """Return the companion's reply with this id; raise TextError if there is none."""
        mine = Reply.objects.owned_by(self.user).filter(companion=self.companion)
        reply = await in_thread(mine.filter(pk=reply_id).first)
        if reply is None:
            raise TextError("no_such_reply", _("There is no such reply."))
        return reply


class MeConsumer(PersonSocket):
    """A person's socket for unread counts, unprompted messages and notices. It ignores the content of client frames."""

    is_deaf = False

    def find_group(self) -> str | None:
        return group_of_person(self.user.pk)

    async def on_open(self) -> None:
        with contextlib.suppress(DatabaseError):
            await self._count()
            for frame in await in_thread(self._load_notices):
                await self.send_frame(frame)

    def poll_seconds(self) -> float:
        return 5.0

    async def poll(self) -> None:
        """Send the unread counts while Redis is away, and once when it is back."""
        was_deaf, self.is_deaf = self.is_deaf, not hub().is_subscribed
        if was_deaf or self.is_deaf:
            with contextlib.suppress(DatabaseError):
                await self._count()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Take any frame only as a sign that the client is there."""
        if self.is_open and not await self.is_too_fast():
            self.wait_for_frames()

    async def handle_event(self, event: Event) -> None:
        if event["type"] == "person.unread":
            await self._count()
        else:
            await self.send(event["frame"])

    async def _count(self) -> None:
        counts = await in_thread(count_unread, self.user, timezone.now())
        companions = {str(id): count for id, count in counts.items()}
        await self.send_frame({"type": "unread", "total": sum(counts.values()), "companions": companions})

    def _load_notices(self) -> list[dict[str, Any]]:
        with self.user.use_language():
            return [notices.as_frame(notice) for notice in notices.list_unseen(self.user, timezone.now())]
