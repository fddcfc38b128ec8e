"""What a chat model is sent, and what its stream is made of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Messages = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """Some of the reasoning before the answer; no part of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Retracted:
    """All pieces so far were reasoning: the model closed a block that its template had opened."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A whole call; `arguments` is JSON as the model wrote it, so it may be broken."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one call; `cached_tokens` are among `prompt_tokens`."""

    prompt_tokens: int
    completion_tokens: int
    cached_tokens: int = 0
    is_estimated: bool = False

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.is_estimated or other.is_estimated,
        )


@dataclass(frozen=True, slots=True)
class Truncated:
    """The answer was cut at the limit of its tokens."""


Text = Piece | Thought | Retracted
Event = Text | ToolCall | Truncated | Usage
