"""Generation of one reply: ask the model, call its tools, publish what it says, and record how each request ended."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import count
from secrets import token_hex
from time import perf_counter
from uuid import UUID

from django.conf import settings

from accounts.limits.places import places
from accounts.models import ModelCall
from companions import tools
from companions.answers.cleaner import AnswerCleaner, Cut, Part
from companions.answers.emotion_tags import Expressions, Felt
from companions.answers.lines import Names
from companions.answers.loops import drop_repetitions
from companions.answers.markup import TextCall
from companions.answers.text_calls import QuotedCalls
from companions.errors import LostOwnershipError
from companions.events import CUT_AT_LIMIT, CUT_AT_LOOP, OWN_MODEL_FAILED, render_recalled
from companions.models import Reply
from companions.prompting.history import compose_tool_result
from companions.replies.broadcast import Publisher
from companions.replies.checkpoint import Said
from companions.replies.context import TurnContext
from companions.replies.model_calls import Meter, end_cut_call, get_round_offers, record_call, record_end
from companions.replies.preparation import embed_message, prepare, prepare_stand_in
from companions.tools.registry import TOOLS
from jobs.background import in_thread, in_thread_with_retry, run_in_background
from jobs.lease import Clock
from providers.chat.events import Event, Piece, Retracted, Thought, ToolCall, Truncated, Usage
from providers.chat.fallback import ProviderChosen, stream_with_fallback
from providers.chat.sampling import Sampling
from providers.errors import EmptyAnswer, ProviderError, ProviderRefused, ProviderUnavailable
from providers.failures import may_another_model_answer
from providers.selection import find_fallbacks, preferring
from text.strings import storable

State = Reply.State
Outcome = ModelCall.Outcome
OF_ITS_SERVER = {ProviderUnavailable.code, ProviderRefused.code}
MARK_SECONDS = 0.1
MAX_EMOTIONS = 100  # of one answer; the rest are dropped


class Generation:
    """The generation of one reply in this process."""

    def __init__(self, turn: TurnContext, clock: Clock) -> None:
        self.turn, self.clock = turn, clock
        self._said = Said(text=turn.reply.text, seq=turn.reply.seq, emotions=list(turn.reply.emotions))
        self._newest: list[str] = []
        self.names = Names(turn.companion.name, turn.person, turn.companion.nickname)
        self.cleaner, self.thinking = AnswerCleaner(self.names), Expressions()
        self.gap = ""  # goes before the next words, if they follow a round of tools
        self.publisher = Publisher(
            turn.companion.pk, turn.reply.pk, seq=turn.reply.seq, characters=len(turn.reply.text)
        )
        self.received_characters = 0
        self.cut_code = ""  # why the answer was cut off, or empty
        self.ends_as: State | None = None
        self.answering: asyncio.Task[None] | None = None

    @property
    def said(self) -> Said:
        """Return all that was said so far. Its text is joined only here: once per piece would copy it all each time."""
        self._said.text += "".join(self._newest)
        self._newest.clear()
        return self._said

    def said_under_numbers(self) -> Said:
        """Return the part of what was said that has a sequence number already: the progress to save on the row."""
        said, sent = self.said, self.publisher.sent
        text = said.text[: sent["reply.piece"]]
        felt = [emotion for emotion in said.emotions if int(str(emotion["at"])) <= len(text)]
        return Said(text, said.thought[: sent["reply.thought"]], self.publisher.seq, said.tool_calls, felt)

    def end(self, state: State) -> None:
        """Cancel the request to the model; the reply ends in `state`, or in the state of an earlier call of `end`."""
        self.ends_as = self.ends_as or state
        if self.answering:
            self.answering.cancel()

    async def run(self) -> State:
        """Generate the reply and return the state in which it ends."""
        if self.turn.reply.is_stop_asked:
            return State.STOPPED
        if self.ends_as:
            return self.ends_as
        self._send_started()
        self.answering = asyncio.create_task(self._answer())
        try:
            await self.answering
        except ProviderError as error:
            is_of_own = self.turn.provider.is_own and error.code in OF_ITS_SERVER
            self.said.code = OWN_MODEL_FAILED if is_of_own else error.code
            return State.FAILED
        except asyncio.CancelledError:
            if self.ends_as is None:
                raise
            return self.ends_as
        except LostOwnershipError:
            return State.INTERRUPTED
        return State.INTERRUPTED if self.cut_code else State.DONE

    def _send_started(self) -> None:
        """Publish the text that the reply starts from. If it is sent again, followers replace all they have with it."""
        message_id, after = str(self.turn.message.pk), self.publisher.last_seq
        self.publisher.send("reply.started", message_id=message_id, text=self.said.text, after=after)

    async def _answer(self) -> None:
        async with places("turns").at(self.turn.whose):
            call = await in_thread_with_retry(self._prepare)
        self.publisher.send("reply.recalled", recalled=render_recalled(self.turn.recalled))
        try:
            await self._answer_by(call)
        except ProviderError as error:
            if not await self._stand_in(error):
                raise

    def _prepare(self) -> ModelCall:
        """Embed the message and prepare the turn, in one visit to a thread, since a person waits for each."""
        cue, vector = embed_message(self.turn)
        return prepare(self.turn, cue, vector, self.clock())

    async def _stand_in(self, error: ProviderError) -> bool:
        """Let a stand-in answer if the companion's own model failed before it said anything; return whether one did.

        If every stand-in fails too, the caller raises the first error. A stand-in that fails once it has said something
        raises its own.
        """
        turn = self.turn
        if self._has_begun or not may_another_model_answer(error):
            return False
        for provider in turn.stand_ins:
            with preferring(replace(turn.companion.preference, chat_model=provider.model)):
                async with places("turns").at(turn.whose):
                    call = await in_thread_with_retry(prepare_stand_in, turn, provider, self.clock())
                try:
                    await self._answer_by(call)
                except ProviderError:
                    if self._has_begun:  # an answer is never begun by one model and completed by another
                        raise
                else:
                    return True
        return False

    @property
    def _has_begun(self) -> bool:
        return bool(self.said.text or self.said.thought or self.said.tool_calls)

    async def _answer_by(self, call: ModelCall) -> None:
        """Ask the turn's provider and call its tools, with up to TOOL_ROUNDS rounds, until it answers without calls.

        An answer without a word is asked for once more. Raise EmptyAnswer if nothing was said then or in any round.
        """
        is_second = False
        for round in count(1):
            before = self.said.text
            calls = await self._ask(call, round)
            if calls and round < settings.TOOL_ROUNDS:
                self.cut_code = ""  # the answer goes on after the tools
                await self._use_tools(calls, self.said.text[len(before) :])
                if self.said.text and not self.said.text[-1].isspace():
                    self.gap = "\n\n"
            elif self.said.text.strip() != before.strip() or self.cut_code:
                return
            elif is_second:
                if self.said.text.strip() == self.turn.reply.text.strip():  # nor in an earlier round
                    raise EmptyAnswer("Neither answer had a word that could be said")
                return
            else:
                is_second = True  # nothing was said: ask again, once
            async with places("turns").at(self.turn.whose):
                call = await in_thread_with_retry(record_call, self.turn, round + 1, self.clock())

    async def _ask(self, call: ModelCall, round: int) -> list[ToolCall]:
        """Stream one answer of the model; return its tool calls."""
        calls: list[ToolCall] = []
        offered = get_round_offers(self.turn, round)
        meter, prompt = Meter(offered, round), self.turn.prompt
        before, felt, gap = self.said.text, len(self.said.emotions), self.gap
        self.names = replace(self.names, person=self.turn.person)
        self.cleaner = self._make_cleaner()
        provider, names = self.turn.provider, [self.names.person]
        providers = [provider, *find_fallbacks(provider)]
        sampling = Sampling.for_talk(names, self.turn.sampling)
        try:
            stream = stream_with_fallback(
                providers, prompt, offered, sampling, passes_breakers=not self.turn.stand_ins
            )
            async with aclosing(stream) as events:
                async for event in events:
                    if isinstance(event, ProviderChosen):
                        call, meter = await self._follow(event, call, meter)
                    elif isinstance(event, Retracted):
                        self._take_back(before, gap, felt, meter, calls)
                    else:
                        self._take(event, meter, calls)
                    if self.cleaner.cut:  # the rest is not the companion's speech
                        break
            self._end_answer(meter, calls, before)
        except ProviderError as error:
            self._end_answer(meter, calls, before)
            await record_end(call, meter, prompt, self.clock, error)
            raise
        except asyncio.CancelledError:
            self._end_answer(meter, calls, before)
            is_stopped = self.ends_as == State.STOPPED
            await asyncio.shield(in_thread(end_cut_call, call, meter, prompt, perf_counter(), is_stopped))
            raise
        await record_end(call, meter, prompt, self.clock)
        return calls

    async def _follow(self, asked: ProviderChosen, call: ModelCall, meter: Meter) -> tuple[ModelCall, Meter]:
        """Record which provider answers; return the call and meter to go on with: new ones after another's failure."""
        if asked.error:
            await record_end(call, meter, self.turn.prompt, self.clock, asked.error)
        if asked.provider == self.turn.provider:
            return call, meter
        self.turn.provider = asked.provider
        if asked.error:
            call = await in_thread_with_retry(record_call, self.turn, meter.round, self.clock())
            return call, Meter(meter.tools, meter.round)
        call.provider = asked.provider.place
        await in_thread_with_retry(call.save, update_fields=["provider"])
        return call, meter

    def _make_cleaner(self) -> AnswerCleaner:
        keeps_directions = not self.turn.companion.without_directions
        return AnswerCleaner(self.names, self.said.text + self.gap, TOOLS, keeps_directions=keeps_directions)

    def _take_back(self, before: str, gap: str, felt: int, meter: Meter, calls: list[ToolCall]) -> None:
        """Turn all that this answer has said so far into reasoning; restore the text and emotions from before it."""
        self._clean(self.cleaner.end(), meter, calls)
        calls.clear()
        reasoning = self.said.text[len(before) :]
        self.said.text, self.gap = before, gap
        del self.said.emotions[felt:]
        self.cleaner = self._make_cleaner()
        self._send_started()
        self._think([reasoning])

    def _end_answer(self, meter: Meter, calls: list[ToolCall], before: str) -> None:
        """Publish what was held back as a possible tag, and set `cut_code` if the answer was cut off."""
        self._clean(self.cleaner.end(is_cut=meter.is_truncated), meter, calls)
        self._think(self.thinking.end())
        given, wrote = self.said.text[len(before) :], "".join(meter.pieces)
        meter.wrote = wrote if wrote != given else ""
        if self.cleaner.cut is Cut.LOOP:
            self.cut_code = CUT_AT_LOOP
            self.said.text = before + drop_repetitions(given)  # a model repeats what it reads in its answers
            end = len(self.said.text)
            self.said.emotions = [felt for felt in self.said.emotions if int(str(felt["at"])) <= end]
            self._send_started()
        elif meter.is_truncated and given.strip() and not calls:
            self.cut_code = CUT_AT_LIMIT

    def _take(self, event: Event, meter: Meter, calls: list[ToolCall]) -> None:
        match event:
            case Piece(text):
                piece = storable(self._cut(text, meter))
                meter.pieces.append(piece)
                self._clean(self.cleaner.take(piece), meter, calls)
            case Thought(text):
                self._think(self.thinking.take(storable(self._cut(text, meter))))
            case ToolCall() if len(calls) < settings.TOOL_CALLS:
                calls.append(tools.cut_call(event))
            case Truncated():
                meter.is_truncated = True
            case Usage():
                meter.usage = event

    def _clean(self, parts: Sequence[Part], meter: Meter, calls: list[ToolCall]) -> None:
        """Publish words, emotions and reasoning, and collect tool calls that the model wrote as text."""
        for part in parts:
            if isinstance(part, TextCall):
                if part.name not in meter.names or meter.text_calls >= settings.TOOL_CALLS:
                    continue
                meter.text_calls += 1
                quoted = QuotedCalls(self.turn.prompt)
                if len(calls) < settings.TOOL_CALLS and not quoted.has(part.name, part.arguments):
                    calls.append(tools.cut_call(ToolCall(f"call_{token_hex(8)}", part.name, part.arguments)))
            elif isinstance(part, Thought):
                self._think(self.thinking.take(part.text))
            else:
                self._give(part)

    def _cut(self, text: str, meter: Meter) -> str:
        """Return the part of the piece that is within ANSWER_CHARACTERS; end the reply if the limit is exceeded."""
        room = max(0, settings.ANSWER_CHARACTERS - self.received_characters)
        meter.note_piece(text)
        self.received_characters += len(text)
        if self.received_characters > settings.ANSWER_CHARACTERS:
            self.cut_code = CUT_AT_LIMIT
            self.end(State.INTERRUPTED)
        return text[:room]

    def _give(self, part: str | Felt) -> None:
        reply = self.turn.reply
        if isinstance(part, Felt):
            if len(self.said.emotions) < MAX_EMOTIONS:
                self.said.emotions.append(part.row())
                self.publisher.send("reply.emotion", **part.row())
            return
        if reply.first_piece_at is None:
            reply.first_piece_at = self.clock()
            run_in_background(_mark_streaming_soon(reply.pk, reply.first_piece_at))
        part, self.gap = self.gap + part, ""
        self._newest.append(part)
        self.publisher.add("reply.piece", part)

    def _think(self, parts: list[str | Felt]) -> None:
        for part in parts:
            if isinstance(part, str):
                self.said.thought += part
                self.publisher.add("reply.thought", part)

    async def _use_tools(self, calls: list[ToolCall], said: str) -> None:
        for call, refusal in zip(calls, tools.add_calls(self.turn, calls, said), strict=True):
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
    """Mark the reply as streaming, a moment after its first piece was published, so that the piece does not wait."""
    await asyncio.sleep(MARK_SECONDS)
    unmarked = Reply.objects.under_way().filter(pk=reply_id, first_piece_at=None)
    await in_thread_with_retry(unmarked.update, state=State.STREAMING, first_piece_at=now)
