"""A chat stream's events as pieces and thoughts, with its tool calls, which stream in parts, and its usage at the end.

The SDK builds a pydantic model for each piece: 112 µs of processor time on the machine that this was measured on,
against 8 µs for reading the lines and their JSON here. A web process that relays thousands of pieces a second needs the
difference, so the SDK makes the request and Kith reads the answer.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import orjson

from providers.chat.events import Piece, Retracted, Text, Thought, ToolCall, Usage
from providers.chat.thoughts import ThoughtSplitter
from providers.errors import AnswerWithheld, MalformedError, ProviderError, ProviderUnavailable
from providers.sdk_errors import excerpt, translate_stream_error
from providers.tokens import estimate_answer, estimate_messages

DONE = b"[DONE]"
MAX_TOKENS = 2**31 - 1  # as many as a database column counts
CUT_REASONS = {"length", "max_tokens", "model_length"}
MAX_OPEN_CALLS = 64  # tool calls of one answer; a turn runs far fewer
MAX_ARGUMENT_CHARACTERS = 1_000_000  # of all of them; what is too long for a tool is told to the model


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
