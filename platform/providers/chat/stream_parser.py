"""The events of a chat stream, parsed into pieces, thoughts and tool calls.

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
from providers.http.sdk_errors import excerpt, translate_stream_error
from providers.tokens import estimate_answer, estimate_messages

DONE = b"[DONE]"
MAX_TOKENS = 2**31 - 1  # the most that a database column holds
CUT_REASONS = {"length", "max_tokens", "model_length"}
MAX_OPEN_CALLS = 64  # tool calls of one answer; a turn runs far fewer
MAX_ARGUMENT_CHARACTERS = 1_000_000  # of all calls; the model is told if one is just too long for its tool


def parse_event(payload: bytes, api_key: str) -> dict[str, Any]:
    """Return the event's JSON object. If it is none, raise ProviderUnavailable with its redacted beginning."""
    event: object = None
    try:
        event = orjson.loads(payload)
    except orjson.JSONDecodeError:
        with suppress(ValueError, RecursionError):
            event = json.loads(payload)  # unlike orjson, accepts lone surrogates and NaN
    if not isinstance(event, dict):
        raise ProviderUnavailable(f"What came was no JSON object: {excerpt(payload, api_key)}")
    return event


class StreamParser:
    """A parser that turns one answer's events into pieces and thoughts, and collects its tool calls and usage."""

    def __init__(self, api_key: str, *, begins_in_thought: bool = False) -> None:
        self._api_key = api_key
        self._splitter = ThoughtSplitter(begins_in_thought=begins_in_thought)
        self._calls = ToolCallCollector()
        self._usage: Usage | None = None
        self._texts: list[Text] = []
        self.finish = ""
        self.is_whole = False  # a finish reason or [DONE] has come
        self.is_ended = False  # [DONE] has come
        self.received = 0  # how many texts and changes of tool calls have come

    @property
    def has_begun(self) -> bool:
        """Return whether any of the answer has come, even if only part of a tool call."""
        return self.received > 0

    @property
    def is_cut(self) -> bool:
        """Return whether the answer was cut at its limit of tokens."""
        return self.finish in CUT_REASONS

    @property
    def is_without_thought(self) -> bool:
        """Return whether an answer that was expected to begin with reasoning had none."""
        return self._splitter.is_without_thought

    @property
    def has_only_thought(self) -> bool:
        """Return whether all text that came was reasoning, and there was some."""
        return bool(self._texts) and all(isinstance(text, Thought) for text in self._texts)

    def feed(self, payloads: Iterable[bytes]) -> Iterator[Text]:
        """Yield the texts in the payloads of one read, up to [DONE], joined into as few events as possible.

        Texts that came before a failure are yielded before it is raised.
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
        """Return the texts of an event. Raise ProviderError if it reports a failure or is no event of a chat."""
        event = parse_event(payload, self._api_key)
        try:
            return self._keep(self._read(event))
        except (AttributeError, IndexError, KeyError, RecursionError, TypeError, ValueError) as wrong:
            shown = excerpt(payload, self._api_key)
            raise ProviderUnavailable(f"What came was no event of a chat: {shown}") from wrong

    def end(self) -> list[Text | ToolCall]:
        """Return the text held back, then the tool calls. Raise AnswerWithheld if a filter withheld all of it."""
        calls = self._calls.finish()
        rest = self._keep(self._splitter.end(is_whole=not calls and not self.is_cut))
        if self._splitter.is_without_thought:  # what was yielded as thoughts is the answer
            self._texts = list(rest)
        if self.finish == "content_filter" and not self.has_begun:
            raise AnswerWithheld("The provider withheld the answer: finish_reason is content_filter")
        return [*rest, *calls]

    def count_usage(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Usage:
        """Return the usage that the server reported, or else an estimate from what was sent and received."""
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
            self._usage = _read_usage(event["usage"]) or self._usage
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
    """Yield neighbouring texts of one kind as one event: a busy process reads many at once, and events cost time."""
    for kind, group in groupby(texts, type):
        if kind is Retracted:
            yield from group
        else:
            yield kind("".join(text.text for text in group if not isinstance(text, Retracted)))


def _read_usage(told: dict[str, Any]) -> Usage | None:
    """Return the usage that the server reported, or None if one of its numbers is impossible."""
    details = told.get("prompt_tokens_details") or {}
    cached = details.get("cached_tokens") or told.get("prompt_cache_hit_tokens") or 0
    sent, received = told.get("prompt_tokens") or 0, told.get("completion_tokens") or 0
    if not all(isinstance(count, int) and 0 <= count <= MAX_TOKENS for count in (sent, received, cached)):
        return None
    return Usage(sent, received, cached)


def _read_parts(content: list[dict[str, Any]]) -> list[Text]:
    """Return the texts of content in parts, as some servers send it: text, and thinking, as a text or parts itself."""
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
    """A collector that assembles tool calls by index; servers may omit indexes or ids, or send calls whole.

    It accepts MAX_OPEN_CALLS calls and drops all after these.
    """

    def __init__(self) -> None:
        self._open: list[_OpenCall] = []
        self._last_at: dict[int, _OpenCall] = {}  # the last call of each index
        self._is_full = False
        self._characters = 0  # of all arguments

    def feed(self, changes: list[dict[str, Any]]) -> None:
        """Take the changes of one event. Raise MalformedError if all arguments exceed MAX_ARGUMENT_CHARACTERS."""
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
        """Return the open call that a change continues, or a new one; None if there are too many."""
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
        """Return the calls that have a name, in order; one without an id gets a random one."""
        calls = [call for call in self._open if call.name]
        for call in calls:
            call.id = call.id or f"call_{secrets.token_hex(8)}"
        return [ToolCall(call.id, call.name, "".join(call.arguments) or "{}") for call in calls]


def _as_text(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
