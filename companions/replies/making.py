"""Making one reply: recall, ask the model, call its tools, give out what it says."""

import asyncio
import contextlib
from contextlib import aclosing
from datetime import datetime
from time import perf_counter
from uuid import UUID

from django.conf import settings

from accounts.models import ModelCall
from accounts.places import places
from companions import tools
from companions.expressing import Expressions, Felt
from companions.models import Reply
from companions.replies import frames
from companions.replies.ahead import (
    Ahead,
    Clock,
    Looking,
    NotYetError,
    from_a_thread,
    look,
    looked_ahead,
    may_wait,
)
from companions.replies.background import later
from companions.replies.calls import Meter, cut_call, end_call
from companions.replies.context import prepare, record_call
from companions.replies.cue import cue_of
from companions.replies.finish import Said
from companions.replies.holding import TurnOverError
from companions.replies.material import Turn
from companions.replies.publish import Publisher
from companions.tools.bounds import bounded
from companions.tools.putting import put
from database.threads import in_thread, in_thread_with_retry
from memory.quoting import neutral
from memory.text import storable
from providers.clients import chat
from providers.errors import ProviderError
from providers.pieces import Event, Piece, Thought, ToolCall, Usage

State = Reply.State
MARK_SECONDS = 0.1
MOST_EMOTIONS = 100  # of one answer; more are no expression any more


class Making:
    """One reply that this process makes."""

    def __init__(self, turn: Turn, clock: Clock, ahead: Looking | None = None) -> None:
        self.turn, self.clock, self.ahead = turn, clock, ahead
        self._said = Said(text=turn.reply.text, seq=turn.reply.seq, emotions=list(turn.reply.emotions))
        self._newest: list[str] = []
        self.saying, self.thinking = Expressions(turn.reply.text), Expressions()
        self.publisher = Publisher(turn.companion.pk, turn.reply.pk, seq=turn.reply.seq)
        self.heard_characters = 0
        self.ends_as: State | None = None
        self.reading: asyncio.Task[None] | None = None

    @property
    def said(self) -> Said:
        """All that was said. Its text is put together when it is wanted: with each piece, all of it would be copied."""
        self._said.text += "".join(self._newest)
        self._newest.clear()
        return self._said

    def so_far(self) -> Said:
        """What has been given out under a number, for the row."""
        said, sent = self.said, self.publisher.sent
        text = said.text[: len(self.turn.reply.text) + sent["reply.piece"]]
        felt = [one for one in said.emotions if int(str(one["at"])) <= len(text)]
        return Said(text, said.thought[: sent["reply.thought"]], self.publisher.seq, said.tool_calls, felt)

    def end(self, state: State) -> None:
        """Stop reading from the model; the reply ends in this state."""
        self.ends_as = self.ends_as or state
        if self.reading:
            self.reading.cancel()

    async def make(self) -> State:
        """The state in which the reply ends."""
        if self.ends_as:
            return self.ends_as
        begun = {"message_id": str(self.turn.message.pk), "text": self.said.text, "after": self.said.seq}
        self.publisher.send("reply.started", **begun)
        self.reading = asyncio.create_task(self._answer())
        try:
            await self.reading
        except ProviderError as error:
            self.said.code = error.code
            return State.FAILED
        except asyncio.CancelledError:
            if self.ends_as is None:
                raise
            return self.ends_as
        except TurnOverError:
            return State.INTERRUPTED
        return State.DONE

    async def _answer(self) -> None:
        async with places("turns").at(self.turn.whose):
            call = await self._prepared()
        asyncio.get_running_loop().call_soon(self._tell_recalled)  # while the model is asked
        for round in range(1, settings.TOOL_ROUNDS + 1):
            is_last = round == settings.TOOL_ROUNDS
            calls = await self._ask(call, is_last=is_last)
            if is_last or not calls:
                return
            await self._use_tools(calls)
            async with places("turns").at(self.turn.whose):
                call = await in_thread_with_retry(record_call, self.turn, round + 1, self.clock())

    def _tell_recalled(self) -> None:
        self.publisher.send("reply.recalled", recalled=frames.recalled(self.turn.found))

    async def _prepared(self) -> ModelCall:
        """The first call, with its prompt. While somebody looks ahead, all else is fetched, and waited a moment."""
        if self.ahead and may_wait():
            with contextlib.suppress(NotYetError):
                looked = from_a_thread(self.ahead, self._looked)
                return await in_thread_with_retry(prepare, self.turn, looked, self.clock())
        ahead = await self._looked()
        return await in_thread_with_retry(prepare, self.turn, lambda: ahead, self.clock())

    async def _looked(self) -> Ahead:
        turn = self.turn
        if looked := await looked_ahead(self.ahead):
            return looked
        return await look(turn.companion, await in_thread_with_retry(cue_of, turn.message), turn.payer)

    async def _ask(self, call: ModelCall, *, is_last: bool) -> list[ToolCall]:
        """Stream one answer; the tool calls that it ends with."""
        calls: list[ToolCall] = []
        offered = [] if is_last else tools.offered()
        meter = Meter(perf_counter(), offered)
        try:
            async with aclosing(chat().stream(self.turn.prompt, offered)) as events:
                async for event in events:
                    self._take(event, meter, calls)
        except ProviderError as error:
            await in_thread_with_retry(end_call, call, meter, self.turn.prompt, perf_counter(), error)
            raise
        except asyncio.CancelledError:
            is_stopped = self.ends_as == State.STOPPED
            await asyncio.shield(
                in_thread(cut_call, call, meter, self.turn.prompt, perf_counter(), is_stopped)
            )
            raise
        finally:
            self._end_pieces()
        await in_thread_with_retry(end_call, call, meter, self.turn.prompt, perf_counter())
        return calls

    def _take(self, event: Event, meter: Meter, calls: list[ToolCall]) -> None:
        match event:
            case Piece(text):
                self._give(self.saying.take(storable(self._hear(text, meter))))
            case Thought(text):
                self._think(self.thinking.take(storable(self._hear(text, meter))))
            case ToolCall() if len(calls) < settings.TOOL_CALLS:
                calls.append(bounded(event))
            case Usage():
                meter.usage = event

    def _hear(self, text: str, meter: Meter) -> str:
        """Return what of the piece is within ANSWER_CHARACTERS; what goes beyond ends the reply."""
        room = max(0, settings.ANSWER_CHARACTERS - self.heard_characters)
        meter.piece(text, perf_counter())
        self.heard_characters += len(text)
        if self.heard_characters > settings.ANSWER_CHARACTERS:
            self.end(State.INTERRUPTED)
        return text[:room]

    def _end_pieces(self) -> None:
        """Give what was held back as it might have become a tag."""
        self._give(self.saying.end())
        self._think(self.thinking.end())

    def _give(self, told: list[str | Felt]) -> None:
        for one in told:
            if isinstance(one, str):
                self._say(one)
            elif len(self.said.emotions) < MOST_EMOTIONS:
                self.said.emotions.append(one.row())
                self.publisher.send("reply.emotion", **one.row())

    def _think(self, told: list[str | Felt]) -> None:
        for one in told:
            if isinstance(one, str):
                self.said.thought += one
                self.publisher.add("reply.thought", one)

    def _say(self, text: str) -> None:
        if self.turn.reply.first_piece_at is None:
            self.turn.reply.first_piece_at = self.clock()
            later(_mark_soon(self.turn.reply.pk, self.turn.reply.first_piece_at))
        self._newest.append(text)
        self.publisher.add("reply.piece", text)

    async def _use_tools(self, calls: list[ToolCall]) -> None:
        for one, refusal in zip(calls, put(self.turn, calls), strict=True):
            began = perf_counter()
            result = (
                {"error": refusal}
                if refusal
                else await in_thread_with_retry(tools.call, self.turn, one.name, one.arguments, self.clock())
            )
            used = {"id": one.id, "name": one.name, "arguments": one.arguments, "result": result}
            self.said.tool_calls.append({**used, "milliseconds": round((perf_counter() - began) * 1000)})
            self.turn.prompt.append(
                {"role": "tool", "tool_call_id": one.id, "content": neutral(frames.as_json(result))}
            )
            self.publisher.send("reply.tool", name=one.name, is_error="error" in result)


async def _mark_soon(reply_id: UUID, now: datetime) -> None:
    """Once the first piece has gone out: whoever reads it does not wait for the row."""
    await asyncio.sleep(MARK_SECONDS)
    await in_thread_with_retry(_mark_streaming, reply_id, now)


def _mark_streaming(reply_id: UUID, now: datetime) -> None:
    making = Reply.objects.filter(
        pk=reply_id, state__in=(State.THINKING, State.STREAMING), first_piece_at=None
    )
    making.update(state=State.STREAMING, first_piece_at=now)
