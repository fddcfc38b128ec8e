"""One answer, heard event by event."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from providers.calling import Calling
from providers.decoding import DONE, parse
from providers.errors import ProviderError, ProviderRefused, ProviderUnavailable
from providers.pieces import Piece, Thought, ToolCall, Usage
from providers.said import told_in_stream
from providers.thinking import Thinking
from providers.tokens import estimate_answer, estimate_messages

SHOWN_CHARACTERS = 500
TEXT_ALONE = {"role", "content"}
MOST_TOKENS = 2**31 - 1  # as many as a database column counts


class Hearing:
    """Turns a stream's events into pieces and thoughts; knows the tool calls and the usage at its end."""

    def __init__(self, api_key: str, chance: random.Random) -> None:
        self._api_key = api_key
        self._thinking = Thinking()
        self._calling = Calling(chance)
        self._usage: Usage | None = None
        self._answer: list[str] = []
        self._thought: list[str] = []
        self.finish = ""
        self.is_whole = False  # the server has said that this is all
        self.is_ended = False  # the closing mark has come
        self.has_begun = False  # something of the answer has come, be it only part of a tool call

    def take(self, payloads: Iterable[bytes]) -> Iterator[Piece | Thought]:
        """What the stream's payloads say, one after the other up to the closing mark.

        What was heard before a failure is given before the failure is raised.
        """
        texts: list[str] = []
        try:
            for payload in payloads:
                if payload.startswith(DONE):
                    self.is_whole = self.is_ended = True
                    break
                event = parse(payload)
                if text := self._text_alone(event):
                    texts.append(text)
                else:
                    yield from self._together(texts)
                    yield from self.hear(event)
        except ProviderError:
            yield from self._together(texts)
            raise
        yield from self._together(texts)

    def _text_alone(self, event: dict[str, Any]) -> str:
        """The text of an event that says nothing else; "" for any other.

        Nearly all are such. What they need is looked for here: 1 µs of processor time each, where `hear` takes 3.
        """
        try:
            choice = event["choices"][0]
            delta = choice["delta"]
            text = delta["content"]
            is_more = event.get("error") or event.get("usage") or choice.get("finish_reason")
            is_alone = self._thinking.is_over and not is_more and delta.keys() <= TEXT_ALONE
        except (AttributeError, IndexError, KeyError, TypeError):
            return ""
        return text if is_alone and isinstance(text, str) else ""

    def _together(self, texts: list[str]) -> list[Piece | Thought]:
        """The texts as one piece, if there are any; they are taken out of the list."""
        heard: list[Piece | Thought] = [Piece("".join(texts))] if texts else []
        texts.clear()
        return self._keep(heard)

    def hear(self, event: dict[str, Any]) -> list[Piece | Thought]:
        """What an event says; ProviderError where it tells of a failure, or is no event of a chat."""
        try:
            return self._told(event)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as wrong:
            shown = str(event)[:SHOWN_CHARACTERS]
            raise ProviderUnavailable(f"What came was no event of a chat: {shown}") from wrong

    def _told(self, event: dict[str, Any]) -> list[Piece | Thought]:
        if event.get("error"):
            raise told_in_stream(event["error"], self._api_key)
        if event.get("usage"):
            self._usage = _counted(event["usage"])
        choices = event.get("choices")
        if not choices:
            return []
        choice = choices[0]
        if choice.get("finish_reason"):
            self.finish, self.is_whole = choice["finish_reason"], True
        delta = choice.get("delta") or choice.get("message")
        return self._keep(self._heard(delta)) if delta else []

    def _heard(self, delta: dict[str, Any]) -> list[Piece | Thought]:
        heard: list[Piece | Thought] = []
        thought = delta.get("reasoning_content") or delta.get("reasoning")
        if thought and isinstance(thought, str):
            heard.append(Thought(thought))
        content = delta.get("content")
        if content:
            heard += self._thinking.feed(content) if isinstance(content, str) else _parts(content)
        if refusal := delta.get("refusal"):
            heard.append(Piece(str(refusal)))
        if delta.get("tool_calls"):
            self._calling.feed(delta["tool_calls"])
            self.has_begun = True
        return heard

    def _keep(self, heard: list[Piece | Thought]) -> list[Piece | Thought]:
        for one in heard:
            (self._answer if isinstance(one, Piece) else self._thought).append(one.text)
            self.has_begun = True
        return heard

    def end(self) -> list[Piece | Thought | ToolCall]:
        """What was held back, then the tool calls; ProviderRefused where all of the answer was withheld."""
        rest = self._keep(self._thinking.end())
        if self.finish == "content_filter" and not self.has_begun:
            raise ProviderRefused("The provider withheld the answer: finish_reason is content_filter")
        return [*rest, *self._calling.calls()]

    def usage(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> Usage:
        """The tokens as the server told them, else as estimated from what was sent and what came."""
        told = self._usage
        if told is not None:
            return told
        thought, answer = "".join(self._thought), "".join(self._answer)
        completion = estimate_answer(answer, thought, self._calling.calls())
        return Usage(estimate_messages(messages, tools), completion, is_estimated=True)


def _counted(told: dict[str, Any]) -> Usage | None:
    """The usage that a server told; None where a number of it is none that can be."""
    cached = (told.get("prompt_tokens_details") or {}).get("cached_tokens") or told.get(
        "prompt_cache_hit_tokens"
    )
    sent, received = told.get("prompt_tokens") or 0, told.get("completion_tokens") or 0
    counts = (sent, received, cached or 0)
    if not all(isinstance(count, int) and 0 <= count <= MOST_TOKENS for count in counts):
        return None
    return Usage(sent, received, cached or 0)


def _parts(content: list[dict[str, Any]]) -> list[Piece | Thought]:
    """Content in parts, as some servers send it: texts, and thinking that is text or parts itself."""
    heard: list[Piece | Thought] = []
    for part in content:
        if part.get("type") == "thinking":
            inner = part.get("thinking") or ""
            heard.append(
                Thought(inner if isinstance(inner, str) else "".join(p.get("text", "") for p in inner))
            )
        elif part.get("text"):
            heard.append(Piece(str(part["text"])))
    return heard
