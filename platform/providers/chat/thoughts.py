"""Separating reasoning that a model writes into its answer, between tags, while the answer streams."""

import re

from providers.chat.events import Piece, Retracted, Text, Thought

MAX_HELD_CHARACTERS = 1_000  # of text held back until what follows decides; white space could go on for ever
OPEN_THOUGHT, CLOSE_THOUGHT = "<think>", "</think>"
THOUGHT_TAG = re.compile("</?think>")
REST_OF_LINE = re.compile("[ \t]*")
BEGUN_TAG = re.compile(r"<(?:/|/?t|/?th|/?thi|/?thin|/?think)?\Z")
FENCE = "```"


class OpenText:
    """Running counts of an answer's text, by which to tell whether a tag closes it, without reading it twice."""

    def __init__(self) -> None:
        self._is_line_blank = True  # whether the last line is blank so far
        self._fences = 0
        self._ticks = ""  # backticks at the end that are not a fence yet
        self._depth = 0  # how many tags opened reasoning and were not closed

    def add(self, text: str) -> None:
        """Count the text that follows. The text must not end within a tag."""
        _, line_end, line = text.rpartition("\n")
        self._is_line_blank = (bool(line_end) or self._is_line_blank) and not line.strip()
        ticked = self._ticks + text
        self._fences += ticked.count(FENCE)
        ticks = len(ticked) - len(ticked.rstrip("`"))
        self._ticks = "`" * (ticks % len(FENCE))
        self._depth += text.count(OPEN_THOUGHT) - text.count(CLOSE_THOUGHT)

    def is_closed_by_tag(self, *, is_line_end: bool) -> bool:
        """Return whether a closing tag here begins or ends a line, outside of code, and nothing before opened it."""
        is_code = self._fences % 2 == 1
        return (self._is_line_blank or is_line_end) and not is_code and self._depth <= 0


class ThoughtSplitter:
    """A splitter that separates reasoning, between <think> and </think> at an answer's very start, from the answer.

    Reasoning may hold nested tags. If it is closed, but less often than opened, the answer is what follows the last
    closing tag. The opening tag may be missing because the model's template wrote it: with `begins_in_thought`, the
    text is reasoning from the start; otherwise a closing tag at the beginning or end of a line, which nothing opened,
    tells that all text before it was reasoning.
    """

    def __init__(self, *, begins_in_thought: bool = False) -> None:
        self._held = ""  # text held back, since it may be part of a tag
        self._state = "start"  # then "thought" and "after", or "open" and perhaps "after"; at last "answer"
        # Text assumed to be reasoning; it is the answer if nothing closes it.
        self._assumed: list[str] | None = [] if begins_in_thought else None
        self._open = OpenText()  # the answer so far, which may turn out to have been reasoning
        self.is_without_thought = False
        self._depth = 1
        self._closed = False  # whether a closing tag has come
        self._since_closed: list[str] = []

    def feed(self, text: str) -> list[Text]:
        """Take more text, and return events for what is certain by now; the rest is held back."""
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
        """Return the certain part of an answer; Retracted follows if a closing tag shows that it was reasoning."""
        start, end = 0, len(text)
        while (at := text.find(CLOSE_THOUGHT, start)) >= 0:
            after = at + len(CLOSE_THOUGHT)
            next_at = REST_OF_LINE.match(text, after).end()  # type: ignore[union-attr]
            # What follows in the line decides.
            if next_at == end and not is_end and end - at <= MAX_HELD_CHARACTERS:
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
        """Return the reasoning that is certain, and the text after its end."""
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
        tail = BEGUN_TAG.search(text, at)  # possibly the first characters of a tag
        end = tail.start() if tail else len(text)
        self._held = text[end:]
        if self._closed:
            self._since_closed.append(text[at:end])
        return "".join([*thoughts, text[at:end]]), ""

    def end(self, *, is_whole: bool = True) -> list[Text]:
        """Return the text held back when the stream ended; with `is_whole`, reasoning never closed is the answer."""
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
