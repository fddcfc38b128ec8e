"""Reasoning that a model writes into its answer, between tags, taken out while the answer streams."""

import re

from providers.chat.events import Piece, Retracted, Text, Thought

MAX_HELD_CHARACTERS = 1_000  # of text that waits for what follows; white space may go on for ever
OPEN_THOUGHT, CLOSE_THOUGHT = "<think>", "</think>"
THOUGHT_TAG = re.compile("</?think>")
REST_OF_LINE = re.compile("[ \t]*")
BEGUN_TAG = re.compile(r"<(?:/|/?t|/?th|/?thi|/?thin|/?think)?\Z")
FENCE = "```"


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
