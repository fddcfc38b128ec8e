"""Generating one reply: ask the model, call its tools, give out what it says, and write down how each request ended."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from datetime import datetime
from functools import partial
from time import perf_counter
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction

from accounts.admission import places
from accounts.models import ModelCall
from companions import tools
from companions.conversations.emotion_tags import Expressions, Felt
from companions.errors import LostOwnershipError
from companions.events import render_recalled
from companions.models import Prompt, Reply
from companions.models.companion import lock
from companions.prompting.turn_prompt import Line, compose_tool_result
from companions.replies.broadcast import Publisher
from companions.replies.context import TurnContext, embed_message, get_round_offers, prepare, record_call
from companions.replies.lifecycle import Said
from jobs.background import in_thread, in_thread_with_retry, run_in_background
from providers.chat.events import Event, Piece, Thought, ToolCall, Usage
from providers.clients import get_chat_client
from providers.errors import ProviderError, ProviderRefused
from providers.tokens import estimate_answer, estimate_messages
from text.strings import storable

State = Reply.State
Outcome = ModelCall.Outcome
Clock = Callable[[], datetime]
MARK_SECONDS = 0.1
MAX_EMOTIONS = 100  # of one answer; more are no expression any more


class Meter:
    """What one request to the model took: when the first piece came, what was received, and the usage."""

    def __init__(self, tools: Sequence[Line] = ()) -> None:
        self.began, self.tools = perf_counter(), tools
        self.first: float | None = None
        self.received: list[str] = []
        self.usage: Usage | None = None

    def note_piece(self, text: str) -> None:
        self.first = self.first or perf_counter()
        self.received.append(text)

    def tokens(self, prompt: Sequence[Line]) -> Usage:
        """Return what the provider counted, or an estimate where it did not come to that."""
        if self.usage:
            return self.usage
        return Usage(
            estimate_messages(prompt, self.tools), estimate_answer("".join(self.received)), is_estimated=True
        )


class Generation:
    """One reply that this process makes."""

    def __init__(self, turn: TurnContext, clock: Clock) -> None:
        self.turn, self.clock = turn, clock
        self._said = Said(text=turn.reply.text, seq=turn.reply.seq, emotions=list(turn.reply.emotions))
        self._newest: list[str] = []
        self.saying, self.thinking = Expressions(turn.reply.text), Expressions()
        self.publisher = Publisher(turn.companion.pk, turn.reply.pk, seq=turn.reply.seq)
        self.received_characters = 0
        self.ends_as: State | None = None
        self.answering: asyncio.Task[None] | None = None

    @property
    def said(self) -> Said:
        """All that was said. Its text is put together when it is wanted: with each piece, all of it would be copied."""
        self._said.text += "".join(self._newest)
        self._newest.clear()
        return self._said

    def said_under_numbers(self) -> Said:
        """Return what has been given out under a number, for the row."""
        said, sent = self.said, self.publisher.sent
        text = said.text[: len(self.turn.reply.text) + sent["reply.piece"]]
        felt = [emotion for emotion in said.emotions if int(str(emotion["at"])) <= len(text)]
        return Said(text, said.thought[: sent["reply.thought"]], self.publisher.seq, said.tool_calls, felt)

    def end(self, state: State) -> None:
        """Stop reading from the model; the reply ends in this state."""
        self.ends_as = self.ends_as or state
        if self.answering:
            self.answering.cancel()

    async def run(self) -> State:
        """Generate the reply and return the state in which it ends."""
        if self.turn.reply.is_stop_asked:
            return State.STOPPED
        if self.ends_as:
            return self.ends_as
        begun = {"message_id": str(self.turn.message.pk), "text": self.said.text, "after": self.said.seq}
        self.publisher.send("reply.started", **begun)
        self.answering = asyncio.create_task(self._answer())
        try:
            await self.answering
        except ProviderError as error:
            self.said.code = error.code
            return State.FAILED
        except asyncio.CancelledError:
            if self.ends_as is None:
                raise
            return self.ends_as
        except LostOwnershipError:
            return State.INTERRUPTED
        return State.DONE

    async def _answer(self) -> None:
        async with places("turns").at(self.turn.whose):
            cue, vector = await in_thread_with_retry(embed_message, self.turn)
            call = await in_thread_with_retry(prepare, self.turn, cue, vector, self.clock())
        self.publisher.send("reply.recalled", recalled=render_recalled(self.turn.found))
        for round in range(1, settings.TOOL_ROUNDS + 1):
            calls = await self._ask(call, get_round_offers(round))
            if round == settings.TOOL_ROUNDS or not calls:
                return
            await self._use_tools(calls)
            async with places("turns").at(self.turn.whose):
                call = await in_thread_with_retry(record_call, self.turn, round + 1, self.clock())

    async def _ask(self, call: ModelCall, offered: list[dict[str, Any]]) -> list[ToolCall]:
        """Stream one answer; return the tool calls that it ends with."""
        calls: list[ToolCall] = []
        meter, prompt = Meter(offered), self.turn.prompt
        try:
            async with aclosing(get_chat_client().stream(prompt, offered)) as events:
                async for event in events:
                    self._take(event, meter, calls)
        except ProviderError as error:
            await in_thread_with_retry(end_call, call, meter, prompt, perf_counter(), error)
            raise
        except asyncio.CancelledError:
            is_stopped = self.ends_as == State.STOPPED
            await asyncio.shield(in_thread(end_cut_call, call, meter, prompt, perf_counter(), is_stopped))
            raise
        finally:  # what was held back as it might have become a tag
            self._give(self.saying.end())
            self._think(self.thinking.end())
        await in_thread_with_retry(end_call, call, meter, prompt, perf_counter())
        return calls

    def _take(self, event: Event, meter: Meter, calls: list[ToolCall]) -> None:
        match event:
            case Piece(text):
                self._give(self.saying.take(storable(self._cut(text, meter))))
            case Thought(text):
                self._think(self.thinking.take(storable(self._cut(text, meter))))
            case ToolCall() if len(calls) < settings.TOOL_CALLS:
                calls.append(tools.cut_call(event))
            case Usage():
                meter.usage = event

    def _cut(self, text: str, meter: Meter) -> str:
        """Return what of the piece is within ANSWER_CHARACTERS; what goes beyond ends the reply."""
        room = max(0, settings.ANSWER_CHARACTERS - self.received_characters)
        meter.note_piece(text)
        self.received_characters += len(text)
        if self.received_characters > settings.ANSWER_CHARACTERS:
            self.end(State.INTERRUPTED)
        return text[:room]

    def _give(self, parts: list[str | Felt]) -> None:
        reply = self.turn.reply
        for part in parts:
            if isinstance(part, Felt):
                if len(self.said.emotions) < MAX_EMOTIONS:
                    self.said.emotions.append(part.row())
                    self.publisher.send("reply.emotion", **part.row())
                continue
            if reply.first_piece_at is None:
                reply.first_piece_at = self.clock()
                run_in_background(_mark_streaming_soon(reply.pk, reply.first_piece_at))
            self._newest.append(part)
            self.publisher.add("reply.piece", part)

    def _think(self, parts: list[str | Felt]) -> None:
        for part in parts:
            if isinstance(part, str):
                self.said.thought += part
                self.publisher.add("reply.thought", part)

    async def _use_tools(self, calls: list[ToolCall]) -> None:
        for call, refusal in zip(calls, tools.add_calls(self.turn, calls), strict=True):
            began = perf_counter()
            result: dict[str, object] = {"error": refusal}
            if not refusal:
                run_tool = partial(tools.call, self.turn, call.name, call.arguments, self.clock())
                result = await in_thread_with_retry(run_tool)
            used = {"id": call.id, "name": call.name, "arguments": call.arguments, "result": result}
            self.said.tool_calls.append({**used, "milliseconds": round((perf_counter() - began) * 1000)})
            self.turn.prompt.append(compose_tool_result(call.id, result))
            self.publisher.send("reply.tool", name=call.name, is_error="error" in result)


async def _mark_streaming_soon(reply_id: UUID, now: datetime) -> None:
    """Mark it once the first piece has gone out: whoever reads that does not wait for the row."""
    await asyncio.sleep(MARK_SECONDS)
    unmarked = Reply.objects.under_way().filter(pk=reply_id, first_piece_at=None)
    await in_thread_with_retry(unmarked.update, state=State.STREAMING, first_piece_at=now)


def end_call(
    call: ModelCall,
    meter: Meter,
    prompt: Sequence[Line],
    now: float,
    error: ProviderError | None = None,
    outcome: Outcome = Outcome.DONE,
) -> None:
    """Record how the call ended, what it cost and how long it took."""
    if error:
        outcome = Outcome.REFUSED if isinstance(error, ProviderRefused) else Outcome.UNAVAILABLE
    usage = (error.usage or Usage(0, 0)) if error else meter.tokens(prompt)
    with transaction.atomic():
        words = storable(error.said) if error else ""
        if words and call.companion_id:
            # The provider may have quoted the prompt: where that was scrubbed meanwhile, its words are not kept either.
            lock(call.companion_id)
            words = words if Prompt.objects.filter(reply=call.reply_id).exists() else ""
        ModelCall.objects.filter(pk=call.pk).update(
            outcome=outcome,
            said=words,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
            is_estimated=usage.is_estimated,
            first_piece_milliseconds=round((meter.first - meter.began) * 1000) if meter.first else None,
            milliseconds=round((now - meter.began) * 1000),
        )


def end_cut_call(call: ModelCall, meter: Meter, prompt: Sequence[Line], now: float, is_stopped: bool) -> None:
    """Record a call that was cut short: `stopped` also where its person had ended the reply before it was noticed."""
    with transaction.atomic():
        if call.companion_id:
            # Whoever ends the reply seals its stream first, and commits a moment later.
            lock(call.companion_id)
        is_stopped = is_stopped or Reply.objects.filter(model_calls=call, state=State.STOPPED).exists()
    end_call(call, meter, prompt, now, outcome=Outcome.STOPPED if is_stopped else Outcome.INTERRUPTED)


def end_lost_calls(reply: Reply) -> None:
    """Close the calls of a reply whose process was killed in the middle of one; the tokens are estimated."""
    prompts = {prompt.round: prompt for prompt in Prompt.objects.filter(reply=reply)}
    calls = ModelCall.objects.filter(reply=reply).order_by("started_at", "pk")
    for round, call in enumerate(calls, start=1):
        if call.outcome == Outcome.RUNNING:
            prompt = prompts.get(round)
            call.outcome, call.is_estimated = Outcome.INTERRUPTED, True
            call.prompt_tokens = estimate_messages(prompt.messages, prompt.tools) if prompt else 0
            call.completion_tokens = estimate_answer(reply.text, reply.thought)
            call.save(update_fields=["outcome", "is_estimated", "prompt_tokens", "completion_tokens"])
