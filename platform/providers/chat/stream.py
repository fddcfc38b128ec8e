"""A chat stream's bytes as events, read before a deadline: lines, JSON, answer and reasoning, tool calls, usage.

The SDK builds a pydantic model for each piece: 112 µs of processor time on the machine that this was measured on,
against 8 µs for reading the lines and their JSON here. A web process that relays thousands of pieces a second needs the
difference, so the SDK makes the request and Kith reads the answer.
"""

import asyncio
import json
import re
import secrets
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, cast

import httpx2
import orjson

from providers.chat.events import Event, Piece, Retracted, Thought, ToolCall, Usage
from providers.errors import AnswerWithheld, MalformedError, ProviderError, ProviderUnavailable
from providers.sdk_errors import SDK_ERRORS, excerpt, translate_stream_error
from providers.tokens import estimate_answer, estimate_messages

DONE = b"[DONE]"
MAX_LINE_BYTES = 256_000
ANSWER_SECONDS = 900.0  # a server may trickle for as long as it never falls silent
DRAIN_SECONDS = 0.1  # what follows [DONE] is read, so that the connection can be used again
MAX_BYTES = 32_000_000
MAX_WHOLE_BYTES = 4_000_000  # of an answer that is not streamed, and is read at one go
MAX_HELD_CHARACTERS = 1_000  # of text that waits for what follows; white space may go on for ever
MAX_OPEN_CALLS = 64  # tool calls of one answer; a turn runs far fewer
MAX_ARGUMENT_CHARACTERS = 1_000_000  # of all of them; what is too long for a tool is told to the model
MAX_TOKENS = 2**31 - 1  # as many as a database column counts
CUT_REASONS = {"length", "max_tokens", "model_length"}
OPEN_THOUGHT, CLOSE_THOUGHT = "<think>", "</think>"
THOUGHT_TAG = re.compile("</?think>")
REST_OF_LINE = re.compile("[ \t]*")
BEGUN_TAG = re.compile(r"<(?:/|/?t|/?th|/?thi|/?thin|/?think)?\Z")
FENCE = "```"
Text = Piece | Thought | Retracted


def parse_event(payload: bytes, api_key: str) -> dict[str, Any]:
    """Return an event's object; ProviderUnavailable where it is none, with its first characters without the key."""
    event: object = None
    try:
        event = orjson.loads(payload)
    except orjson.JSONDecodeError:
        with suppress(ValueError, RecursionError):
            event = json.loads(payload)  # takes half a surrogate pair and NaN too
    if not isinstance(event, dict):
        raise ProviderUnavailable(f"What came was no JSON object: {excerpt(payload, api_key)}")
    return event


class StreamParser:
    """Turns one answer's events into pieces and thoughts; knows its tool calls and its usage at the end."""

    def __init__(self, api_key: str, *, begins_in_thought: bool = False) -> None:
        self._api_key = api_key
        self._splitter = ThoughtSplitter(begins_in_thought=begins_in_thought)
        self._calls = ToolCallCollector()
        self._usage: Usage | None = None
        self._texts: list[Text] = []
        self.finish = ""
        self.is_whole = False  # the server has said that this is all
        self.is_ended = False  # the closing mark has come
        self.received = 0  # texts and changes of tool calls so far

    @property
    def has_begun(self) -> bool:
        """Whether something of the answer has come, be it only part of a tool call."""
        return self.received > 0

    @property
    def is_cut(self) -> bool:
        """Whether the answer ended at the limit of its tokens."""
        return self.finish in CUT_REASONS

    @property
    def is_without_thought(self) -> bool:
        """Whether a whole answer came where it was to begin with reasoning."""
        return self._splitter.is_without_thought

    @property
    def has_only_thought(self) -> bool:
        """Whether nothing of an answer came but reasoning."""
        return bool(self._texts) and all(isinstance(text, Thought) for text in self._texts)

    def feed(self, payloads: Iterable[bytes]) -> Iterator[Text]:
        """Yield what the payloads of one read say, in as few events as may be, up to the closing mark.

        What came before a failure is yielded before the failure is raised.
        """
        texts: list[Text] = []
        try:
            for payload in payloads:
                if payload.startswith(DONE):
                    self.is_whole = self.is_ended = True
                    break
                texts += self.read(payload)
        except ProviderError:
            yield from _join(texts)
            raise
        yield from _join(texts)

    def read(self, payload: bytes) -> list[Text]:
        """Return what an event says; ProviderError where it tells of a failure, or is no event of a chat."""
        event = parse_event(payload, self._api_key)
        try:
            return self._keep(self._read(event))
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as wrong:
            shown = excerpt(payload, self._api_key)
            raise ProviderUnavailable(f"What came was no event of a chat: {shown}") from wrong

    def end(self) -> list[Text | ToolCall]:
        """Return what was held back, then the tool calls; AnswerWithheld where all of it was."""
        calls = self._calls.finish()
        rest = self._keep(self._splitter.end(is_whole=not calls and not self.is_cut))
        if self._splitter.is_without_thought:  # what came as thoughts is the answer
            self._texts = list(rest)
        if self.finish == "content_filter" and not self.has_begun:
            raise AnswerWithheld("The provider withheld the answer: finish_reason is content_filter")
        return [*rest, *calls]

    def count_usage(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Usage:
        """Return the tokens as the server told them, else as estimated from what was sent and what came."""
        if self._usage is not None:
            return self._usage
        answer = "".join(text.text for text in self._texts if isinstance(text, Piece))
        thought = "".join(text.text for text in self._texts if isinstance(text, Thought))
        completion = estimate_answer(answer, thought, self._calls.finish())
        return Usage(estimate_messages(messages, tools), completion, is_estimated=True)

    def _read(self, event: dict[str, Any]) -> list[Text]:
        if event.get("error"):
            raise translate_stream_error(event["error"], self._api_key)
        if event.get("usage"):
            self._usage = _read_usage(event["usage"])
        if not event.get("choices"):
            return []
        choice = event["choices"][0]
        if (reason := choice.get("finish_reason")) and isinstance(reason, str):
            self.finish, self.is_whole = reason, True
        delta = choice.get("delta") or choice.get("message") or {}
        texts: list[Text] = []
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            texts.append(Thought(thought))
        if content := delta.get("content"):
            texts += self._splitter.feed(content) if isinstance(content, str) else _read_parts(content)
        if refusal := delta.get("refusal"):
            texts.append(Piece(str(refusal)))
        if delta.get("tool_calls"):
            self._calls.feed(delta["tool_calls"])
            self.received += len(delta["tool_calls"])
        return texts

    def _keep(self, texts: list[Text]) -> list[Text]:
        for text in texts:
            if isinstance(text, Retracted):
                self._texts = [Thought(kept.text) for kept in self._texts if not isinstance(kept, Retracted)]
            else:
                self._texts.append(text)
        self.received += len(texts)
        return texts


def _join(texts: Iterable[Text]) -> Iterator[Text]:
    """Yield neighbours of one kind as one event: a busy process reads many at once, and each costs it time."""
    for kind, group in groupby(texts, type):
        if kind is Retracted:
            yield from group
        else:
            yield kind("".join(text.text for text in group if not isinstance(text, Retracted)))


def _read_usage(told: dict[str, Any]) -> Usage | None:
    """Return the usage that a server told; None where a number of it is none that can be."""
    details = told.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or told.get("prompt_cache_hit_tokens") or 0
    sent, received = told.get("prompt_tokens") or 0, told.get("completion_tokens") or 0
    if not all(isinstance(count, int) and 0 <= count <= MAX_TOKENS for count in (sent, received, cached)):
        return None
    return Usage(sent, received, cached)


def _read_parts(content: list[dict[str, Any]]) -> list[Text]:
    """Return content in parts, as some servers send it: texts, and thinking that is text or parts itself."""
    texts: list[Text] = []
    for part in content:
        if part.get("type") == "thinking":
            inner = part.get("thinking") or ""
            parts = [inner] if isinstance(inner, str) else [part.get("text", "") for part in inner]
            if thought := "".join(parts):
                texts.append(Thought(thought))
        elif part.get("text"):
            texts.append(Piece(str(part["text"])))
    return texts


class OpenText:
    """Counts of a text that tell whether a tag closes it, so that none of it is read twice."""

    def __init__(self) -> None:
        self._is_line_blank = True  # the last one so far
        self._fences = 0
        self._ticks = ""  # at the end of it, and of no fence yet
        self._depth = 0  # of tags that opened reasoning and were not closed

    def add(self, text: str) -> None:
        """Count what follows; a tag is never cut in two."""
        _, line_end, line = text.rpartition("\n")
        self._is_line_blank = (bool(line_end) or self._is_line_blank) and not line.strip()
        ticked = self._ticks + text
        self._fences += ticked.count(FENCE)
        ticks = len(ticked) - len(ticked.rstrip("`"))
        self._ticks = "`" * (ticks % len(FENCE))
        self._depth += text.count(OPEN_THOUGHT) - text.count(CLOSE_THOUGHT)

    def is_closed_by_tag(self, *, is_line_end: bool) -> bool:
        """Return whether a tag here stands at a line's end, or alone in it, outside of code, and nothing opened it."""
        is_code = self._fences % 2 == 1
        return (self._is_line_blank or is_line_end) and not is_code and self._depth <= 0


class ThoughtSplitter:
    """Takes reasoning between <think> and </think> out of the text; only an answer's very start may reason.

    Reasoning may reason within itself. Where it is closed once less than it was opened, the answer is what follows the
    last time. It may begin without a tag, which a template has written: where it is known to, it is reasoning from the
    start (`begins_in_thought`); else a tag that closes what nothing opened, at an end of a line, tells that all before it
    was reasoning.
    """

    def __init__(self, *, begins_in_thought: bool = False) -> None:
        self._held = ""  # may be part of a tag
        self._state = "start"  # then perhaps "thought" and "after", or "open"; at last "answer"
        # It is the answer where nothing closes it.
        self._assumed: list[str] | None = [] if begins_in_thought else None
        self._open = OpenText()  # the answer so far, which may turn out to have been reasoning
        self.is_without_thought = False
        self._depth = 1
        self._closed = False  # at least once
        self._since_closed: list[str] = []

    def feed(self, text: str) -> list[Text]:
        """Return what of the text so far is certain."""
        held, self._held = self._held + text, ""
        texts: list[Text] = []
        if self._state == "start":
            begun = held.lstrip()
            is_undecided = OPEN_THOUGHT.startswith(begun) and begun != OPEN_THOUGHT
            if is_undecided and len(held) <= MAX_HELD_CHARACTERS:
                self._held = held
                return []
            is_thought = begun.startswith(OPEN_THOUGHT)
            held = begun[len(OPEN_THOUGHT) :] if is_thought else held
            if is_thought:
                self._assumed = None
            self._state = "thought" if is_thought or self._assumed is not None else "open"
        if self._state == "thought":
            thought, held = self._split_thought(held)
            texts += [Thought(thought)] if thought else []
            if self._assumed is not None:
                self._assumed.append(thought)
        if self._state == "open":
            return [*texts, *self._read_open(held)]
        if self._state == "after":
            held = held.lstrip()
            self._state = "answer" if held else "after"
        return [*texts, Piece(held)] if held else texts

    def _read_open(self, text: str, *, is_end: bool = False) -> list[Text]:
        """Return what of an answer is certain, or where a tag closes what nothing opened, that it was reasoning."""
        start, end = 0, len(text)
        while (at := text.find(CLOSE_THOUGHT, start)) >= 0:
            after = at + len(CLOSE_THOUGHT)
            next_at = REST_OF_LINE.match(text, after).end()  # type: ignore[union-attr]
            if (
                next_at == end and not is_end and end - at <= MAX_HELD_CHARACTERS
            ):  # what follows in the line tells
                end = at
                break
            self._open.add(text[start:at])
            if self._open.is_closed_by_tag(is_line_end=text[next_at : next_at + 1] in ("", "\n", "\r")):
                self._state = "after"
                return [*_piece(text[:at]), Retracted(), *self.feed(text[after:])]
            self._open.add(CLOSE_THOUGHT)
            start = after
        else:
            tail = BEGUN_TAG.search(text, start) if not is_end else None
            end = tail.start() if tail else end
        self._open.add(text[start:end])
        self._held = text[end:]
        return _piece(text[:end])

    def _split_thought(self, text: str) -> tuple[str, str]:
        """Return the reasoning that is certain, and what follows its end."""
        thoughts, at = [], 0
        for tag in THOUGHT_TAG.finditer(text):
            thoughts.append(text[at : tag.start()])
            at = tag.end()
            is_opened = tag[0] == OPEN_THOUGHT
            self._depth += 1 if is_opened else -1
            if self._depth == 0:
                self._state = "after"
                return "".join(thoughts), text[at:]
            if not is_opened:
                self._closed, self._since_closed = True, []
        tail = BEGUN_TAG.search(text, at)  # may be a tag's first characters
        end = tail.start() if tail else len(text)
        self._held = text[end:]
        if self._closed:
            self._since_closed.append(text[at:end])
        return "".join([*thoughts, text[at:end]]), ""

    def end(self, *, is_whole: bool = True) -> list[Text]:
        """Return what still waited when the stream ended; `is_whole` where the answer is to have a word."""
        held, self._held = self._held, ""
        if self._state == "open":
            return self._read_open(held, is_end=True)
        answer = "".join([*self._since_closed, held]).strip() if self._state == "thought" else ""
        if answer and self._closed:
            return [Piece(answer)]
        if self._state == "thought" and self._assumed is not None and is_whole:
            self.is_without_thought = True
            return _piece("".join([*self._assumed, held]))
        return [(Thought if self._state == "thought" else Piece)(held)] if held else []


def _piece(text: str) -> list[Text]:
    return [Piece(text)] if text else []


@dataclass
class _OpenCall:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ToolCallCollector:
    """Puts tool calls together by index; understands servers that leave out indexes or ids, or send calls whole.

    It takes MAX_OPEN_CALLS; from the next one on all is dropped.
    """

    def __init__(self) -> None:
        self._open: list[_OpenCall] = []
        self._last_at: dict[int, _OpenCall] = {}  # of those with an index
        self._is_full = False
        self._characters = 0  # of all arguments

    def feed(self, changes: list[dict[str, Any]]) -> None:
        """Take the changes of one event; MalformedError where there are more than MAX_ARGUMENT_CHARACTERS."""
        for change in changes:
            function = change.get("function") or {}
            id_, name = _as_text(change.get("id")), _as_text(function.get("name"))
            call = self._find(change.get("index"), id_, name)
            if call is None:
                return
            call.id = call.id or id_
            call.name = call.name or name
            if arguments := _as_text(function.get("arguments")):
                call.arguments.append(arguments)
                self._characters += len(arguments)
            if self._characters > MAX_ARGUMENT_CHARACTERS:
                most = f"{MAX_ARGUMENT_CHARACTERS:,}"
                raise MalformedError(f"The arguments of the tool calls have more than {most} characters")

    def _find(self, index: int | None, id_: str, name: str) -> _OpenCall | None:
        """Return the open call that a change goes on with, or a new one; None where there are too many."""
        call = self._last_at.get(index) if index is not None else self._open[-1] if self._open else None
        has_new_id = bool(call and id_ and call.id and id_ != call.id)
        has_new_name = bool(call and index is None and name and call.name)
        if call is None or has_new_id or has_new_name:
            self._is_full = len(self._open) == MAX_OPEN_CALLS
            call = _OpenCall()
            if not self._is_full:
                self._open.append(call)
            if not self._is_full and index is not None:
                self._last_at[index] = call
        return None if self._is_full else call

    def finish(self) -> list[ToolCall]:
        """Return every call that has a name, in their order; a missing id is drawn by chance."""
        calls = [call for call in self._open if call.name]
        for call in calls:
            call.id = call.id or f"call_{secrets.token_hex(8)}"
        return [ToolCall(call.id, call.name, "".join(call.arguments) or "{}") for call in calls]


def _as_text(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)


class Deadline:
    """When to give up a stream: at `first_piece_by` until the answer has begun, then after some silence or as a whole."""

    def __init__(
        self, first_piece_by: float, silence_seconds: float, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._silence_seconds = silence_seconds
        self._answer_seconds = answer_seconds
        self._at = first_piece_by
        self._end_by: float | None = None  # known once the answer has begun

    def extend(self) -> None:
        """Count the silence from here on.

        To be called when reading goes on and not when an event comes: a slow reader is not the server's silence.
        """
        now = asyncio.get_running_loop().time()
        self._end_by = self._end_by or now + self._answer_seconds
        self._at = min(now + self._silence_seconds, self._end_by)

    @asynccontextmanager
    async def bound(self) -> AsyncIterator[None]:
        """Raise ProviderUnavailable where the wait for the server in the block takes too long."""
        try:
            async with asyncio.timeout_at(self._at):
                yield
        except TimeoutError:
            if self._end_by is None:
                late = "The server gave no first piece in time"
            elif self._at == self._end_by:
                late = f"The answer did not end within {self._answer_seconds:g} s"
            else:
                late = f"The server fell silent for {self._silence_seconds:g} s"
            raise ProviderUnavailable(late) from None


async def read_events(
    response: httpx2.Response, parser: StreamParser, deadline: Deadline, api_key: str
) -> AsyncIterator[Event]:
    """Yield what the response says, tool calls last; ProviderError where it breaks off, fails or takes too long."""
    kind = response.headers.get("content-type", "")
    if "html" in kind:
        shown = excerpt(await _read_all(response, deadline), api_key)
        raise ProviderUnavailable(f"HTML came in place of an answer: {shown}", status=response.status_code)
    if "json" in kind and "stream" not in kind and "ndjson" not in kind:
        answer = await _read_all(response, deadline)
        for text in parser.read(answer):
            yield text
        if "choices" not in parse_event(answer, api_key):
            raise ProviderUnavailable(f"What came was no answer: {excerpt(answer, api_key)}")
    else:
        async for event in _read_stream(response, parser, deadline):
            yield event
        if not parser.is_whole:
            raise ProviderUnavailable("The stream ended before the answer did")
    for last in parser.end():
        yield last


async def _read_all(response: httpx2.Response, deadline: Deadline) -> bytes:
    async with deadline.bound():
        return b"".join([data async for data in _read_bounded(response, MAX_WHOLE_BYTES)])


async def _read_stream(
    response: httpx2.Response, parser: StreamParser, deadline: Deadline
) -> AsyncIterator[Event]:
    """Yield what the server-sent events of a response say, whatever line ends the server writes."""
    rest, reads = bytearray(), _read_bounded(response, MAX_BYTES)
    while not parser.is_ended:
        async with deadline.bound():
            data = await anext(reads, None)
        end, *begun = (b"\n" if data is None else data).split(b"\n")
        rest += end
        lines: list[bytes] = []
        if begun:
            lines, rest = [bytes(rest), *begun[:-1]], bytearray(begun[-1])
        if any(len(line) > MAX_LINE_BYTES for line in (*lines, rest)):
            raise ProviderUnavailable(f"A line of the stream is longer than {MAX_LINE_BYTES:,} bytes")
        payloads = [line[5:].strip() for line in lines if line.startswith(b"data:")]
        received = parser.received
        for event in parser.feed(payloads):
            yield event
        if data is None:
            return
        if parser.received > received:
            deadline.extend()
    with suppress(TimeoutError, *SDK_ERRORS):
        async with asyncio.timeout(DRAIN_SECONDS):
            async for _ in reads:
                pass


async def _read_bounded(response: httpx2.Response, max_bytes: int) -> AsyncIterator[bytes]:
    """Yield the body as it comes; ProviderUnavailable where it does not come to an end."""
    body: AsyncIterable[bytes] = response.aiter_bytes()
    if response.headers.get("content-encoding", "identity") == "identity":
        body = cast(httpx2.AsyncByteStream, response.stream)  # past two layers that unpack and count
    left = max_bytes
    async for data in body:
        left -= len(data)
        if left < 0:
            raise ProviderUnavailable(f"The server sent more than {max_bytes:,} bytes")
        yield data
