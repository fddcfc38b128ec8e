"""Reasoning that a server leaves in the answer's text, between <think> and </think>, taken out of it."""

from providers.pieces import Piece, Thought

OPEN, CLOSE = "<think>", "</think>"


class Thinking:
    """Tells answer from reasoning, wherever a tag is cut; only an answer's very start may reason."""

    def __init__(self) -> None:
        self._held = ""
        self._state = self._at_start
        self.is_over = False  # all that follows is answer

    def feed(self, text: str) -> list[Piece | Thought]:
        """What of the text so far is certain; a possible part of a tag waits."""
        if self.is_over:  # nearly always
            return [Piece(text)] if text else []
        self._held += text
        return self._state()

    def end(self) -> list[Piece | Thought]:
        """What still waited when the stream ended."""
        held, self._held = self._held, ""
        if not held:
            return []
        return [Thought(held) if self._state == self._in_thought else Piece(held)]

    def _at_start(self) -> list[Piece | Thought]:
        text = self._held.lstrip()
        if text.startswith(OPEN):
            self._held, self._state = text[len(OPEN) :], self._in_thought
            return self._in_thought()
        if OPEN.startswith(text):
            return []
        return self._answer()

    def _in_thought(self) -> list[Piece | Thought]:
        thought, closed, after = self._held.partition(CLOSE)
        if closed:
            self._held, self._state = after, self._after_thought
            return self._told(thought) + self._after_thought()
        kept = _tail(self._held)
        thought, self._held = self._held[: len(self._held) - kept], self._held[len(self._held) - kept :]
        return self._told(thought)

    def _after_thought(self) -> list[Piece | Thought]:
        self._held = self._held.lstrip()
        return self._answer() if self._held else []

    def _answer(self) -> list[Piece | Thought]:
        text, self._held, self.is_over = self._held, "", True
        return [Piece(text)]

    def _told(self, thought: str) -> list[Piece | Thought]:
        return [Thought(thought)] if thought else []


def _tail(text: str) -> int:
    """How many characters at the end may be the closing tag's first ones."""
    return next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)
