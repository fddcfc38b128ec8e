"""The sockets of a person: one for each companion that is open, and one for everything else."""

import asyncio
import contextlib
import time
from collections import deque
from typing import Annotated, Any, Literal
from uuid import UUID, uuid4

import orjson
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError, InterfaceError
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from accounts.admission import Visit, address_of, at_work, being_identified
from accounts.errors import GateError, RefusedError
from accounts.models import User
from companions.errors import TextError
from companions.events import (
    REDIS_UNAVAILABLE,
    Event,
    group_of_companion,
    group_of_person,
    group_of_sockets,
    hub,
    render_saved,
)
from companions.life.outreach import count_unread
from companions.models import Companion, Reply
from companions.replies import actions, turn
from companions.replies.following import Follower, silence_seconds
from companions.sockets.authorization import (
    NO_SUCH_COMPANION,
    NOT_SIGNED_IN,
    find_ending,
    find_sender,
    may_connect,
)
from companions.sockets.signals import CHECK
from database.queries import DATABASE_UNAVAILABLE, describe_full_disk
from jobs.background import in_thread
from safety import notices
from text.strings import is_storable

IDLE, TOO_FAST, UNAVAILABLE = 4408, 4429, 1013
MAX_CLIENT_ID_CHARACTERS = 200


class Frame(BaseModel):
    """A frame from the client."""


class MessageSend(Frame):
    type: Literal["message.send"]
    text: str
    client_id: str = Field(min_length=1, max_length=MAX_CLIENT_ID_CHARACTERS)
    quoted: UUID | None = None
    attachments: list[UUID] = Field(default=[], max_length=20)


class ReplyStop(Frame):
    type: Literal["reply.stop"]
    id: UUID


class ReplyResume(Frame):
    type: Literal["reply.resume"]
    id: UUID
    after: int = Field(0, ge=0, le=2**31 - 1)


MAX_FRAME_CHARACTERS = 1_000_000  # over twice the longest message in its longest encoding
FRAMES = MessageSend | ReplyStop | ReplyResume
TALK: TypeAdapter[Frame] = TypeAdapter(Annotated[FRAMES, Field(discriminator="type")])


def read_frame(text: str | None, known: TypeAdapter[Frame] = TALK) -> Frame:
    """Return the frame; raise TextError, saying what is wrong, if it is not one of the `known` ones."""
    if text is None:
        raise TextError("bad_frame", _("Frames must be text, not bytes."))
    if len(text) > MAX_FRAME_CHARACTERS:
        raise TextError("bad_frame", _("This frame is too long."))
    try:
        frame = known.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        code = "unknown_frame" if first["type"] == "union_tag_invalid" else "bad_frame"
        place = ".".join(str(part) for part in first["loc"][1:])
        raise TextError(code, f"{place}: {first['msg']}" if place else first["msg"]) from error
    if not is_storable(getattr(frame, "client_id", "")):
        raise TextError("bad_frame", _("This client id contains characters that are not text."))
    return frame


def find_client_id(text: str | None) -> str | None:
    """Return the client id in a frame that cannot be read, for its error, or None if there is none to be found."""
    try:
        frame = orjson.loads(text or "") if len(text or "") <= MAX_FRAME_CHARACTERS else None
    except orjson.JSONDecodeError:
        return None
    given = frame.get("client_id") if isinstance(frame, dict) else None
    return given if isinstance(given, str) and len(given) <= MAX_CLIENT_ID_CHARACTERS else None


# -- what both sockets of a person have in common --------------------------------------------------------------------


class PersonSocket(AsyncWebsocketConsumer):
    """Base of a signed-in person's sockets, which listen to one group of events.

    A subclass chooses the group, handles its events, and may poll at an interval.
    """

    user: User
    group: str = ""
    channel_layer_alias = ""  # no channel layer: events come from the hub
    companion_id: UUID | None = None
    is_open = False
    is_closing = False

    def find_group(self) -> str | None:
        """Return the group to listen to, or None if the address names nothing that this person owns."""
        raise NotImplementedError

    async def on_open(self) -> None:
        """Hook: called once the person is known and the socket listens to its group."""

    async def on_end(self) -> None:
        """Hook: called once the socket has ended, before the person has its place free again."""

    async def handle_event(self, event: Event) -> None:
        """Handle an event of the group."""
        raise NotImplementedError

    def poll_seconds(self) -> float:
        """Return how many seconds to wait before the next poll."""
        raise NotImplementedError

    async def poll(self) -> None:
        """Hook: called every `poll_seconds()`."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve the socket, and release what it holds however it ends; sending may raise if the connection is lost."""
        self.tasks: list[asyncio.Task[None]] = []
        self.frame_times: deque[float] = deque()
        self.idle: asyncio.Task[None] | None = None
        self.events: asyncio.Queue[Event] = asyncio.Queue()
        self.listener = self.events.put_nowait
        self.visit = Visit(address_of(scope))
        try:
            await super().__call__(scope, receive, send)
        finally:
            await asyncio.shield(self.end())

    async def connect(self) -> None:
        if not may_connect(self.scope):
            await self.close()
            return
        refusal = await self._find_refusal()
        await self.accept()  # once it listens: what is said from now on reaches the client
        if refusal:
            await self.close(refusal)
            await self.visit.end()  # even if the client does not close its side
            return
        self.is_open = True
        self.wait_for_frames()
        await self.on_open()
        self.tasks = [asyncio.create_task(self._handle_events()), asyncio.create_task(self._watch())]

    async def _find_refusal(self) -> int | None:
        """Identify the person and listen to the group; return None, or the code to close the socket with."""
        try:
            async with being_identified(self.visit):
                user = await in_thread(find_sender, self.scope, timezone.now())
            if user is None:
                return NOT_SIGNED_IN
            self.user = user
            await self.visit.take("sockets", user.pk)
            group = await in_thread(self.find_group)
            if group is None:
                return NO_SUCH_COMPANION
            self.group = group
            await hub().listen(group, self.listener)
            await hub().listen(group_of_sockets(user.pk), self.listener)
            # Check again: a session that ended before this socket listened was announced to the others only.
            if await in_thread(find_sender, self.scope, timezone.now()) is None:
                return NOT_SIGNED_IN
        except DatabaseError:
            return UNAVAILABLE
        except GateError:
            return TOO_FAST
        return None

    async def end(self) -> None:
        """Stop the socket's tasks, stop listening, finish what is to be finished, and end its visit."""
        for task in filter(None, (self.idle, *self.tasks)):
            task.cancel()
        if self.group:
            for group in (self.group, group_of_sockets(self.user.pk)):
                hub().leave(group, self.listener)
        try:
            await self.on_end()
        finally:
            await self.visit.end()

    async def _handle_events(self) -> None:
        """Handle the group's events one by one; close the socket if the database, Redis or the connection fails."""
        try:
            while True:
                event = await self.events.get()
                if event["type"] == CHECK:  # in a task, so that further events are handled meanwhile
                    running = [task for task in self.tasks if not task.done()]
                    self.tasks = [*running, asyncio.create_task(self._close_if_ended())]
                else:
                    await self.handle_event(event)
        except (DatabaseError, RuntimeError, *REDIS_UNAVAILABLE):
            with contextlib.suppress(RuntimeError, OSError):
                await self.close(UNAVAILABLE)

    async def _watch(self) -> None:
        """Poll at each interval, and check now and then whether the socket may stay open."""
        seconds = settings.SOCKET_CHECKED_SECONDS
        share = (id(self) // 64 % 1024) / 1024  # so that sockets opened together are not all checked together
        checked_at = time.monotonic() - seconds * share
        while True:
            await asyncio.sleep(self.poll_seconds())
            if time.monotonic() - checked_at >= seconds:
                checked_at = time.monotonic()
                await self._close_if_ended()
                if self.is_closing:
                    return
            await self.poll()

    async def _close_if_ended(self) -> None:
        """Close the socket if the session or token has ended, or the companion is gone."""
        ending = None
        with contextlib.suppress(DatabaseError, InterfaceError):
            ending = await in_thread(find_ending, self.scope, self.user.pk, self.companion_id, timezone.now())
        if ending:
            await self.close(ending)

    async def send_frame(self, frame: object) -> None:
        """Send a frame as JSON."""
        await self.send(orjson.dumps(frame).decode())

    async def is_too_fast(self) -> bool:
        """Count a frame; if there were too many within ten seconds, close the socket and return True."""
        now = time.monotonic()
        self.frame_times.append(now)
        while self.frame_times[0] < now - 10:
            self.frame_times.popleft()
        if len(self.frame_times) <= settings.SOCKET_FRAMES_PER_10_SECONDS:
            return False
        await self.close(TOO_FAST)
        return True

    def wait_for_frames(self) -> None:
        """Start the idle timeout anew, after which the socket is closed."""
        if self.idle:
            self.idle.cancel()
        self.idle = asyncio.create_task(self._close_when_idle())

    async def _close_when_idle(self) -> None:
        await asyncio.sleep(settings.SOCKET_IDLE_SECONDS)
        await self.close(IDLE)

    async def close(self, code: int | bool | None = None, reason: str | None = None) -> None:
        """Close the socket, unless that was done already."""
        if not self.is_closing:
            self.is_closing = True
            await super().close(code, reason)


# -- the two sockets -------------------------------------------------------------------------------------------------


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
            with translation.override(self.user.language or "en"):
                frame = self.read_frame(text_data)
                client_id = getattr(frame, "client_id", None)
                await self.handle_frame(frame)
        except RefusedError as error:
            await self.send_error(error.code, str(error.detail), client_id or find_client_id(text_data))
        except DATABASE_UNAVAILABLE as error:
            with translation.override(self.user.language or "en"):
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
        for reply_id in self.follower.silent():
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
        with translation.override(self.user.language or "en"):
            return [notices.as_frame(notice) for notice in notices.list_unseen(self.user, timezone.now())]
