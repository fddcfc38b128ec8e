"""Clean a model's answer, while it streams or as a whole, so that only the companion's words are left. Pure.

The steps in order: `markup`, `emotion_tags`, `lines`, `loops`; the package says what each removes.
"""

from collections.abc import Collection, Iterable
from dataclasses import replace
from enum import StrEnum

from companions.answers.emotion_tags import Expressions, Felt
from companions.answers.lines import LineReader, Names
from companions.answers.loops import LoopReader, drop_repetitions
from companions.answers.markup import MarkupReader, TextCall
from providers.chat.events import Thought

Part = str | Felt | Thought | TextCall


class Cut(StrEnum):
    """Why an answer ended before the model did."""

    TURN = "turn"  # the model went on with somebody else's turn
    LOOP = "loop"  # the model repeated itself


class AnswerCleaner:
    """Reads the text, emotions, reasoning and tool calls of one answer from pieces cut anywhere.

    `text` is what the answer continues, if any. `tools` are the names by which tool calls in code are recognised. Once
    `cut` is set, the answer has ended, and the model's stream need not be read further. `has_text` is True once the
    answer itself has any text.
    """

    def __init__(
        self, names: Names, text: str = "", tools: Collection[str] = (), *, keeps_directions: bool = True
    ) -> None:
        self._length, self.has_text = len(text), False
        self._markup = MarkupReader(tools, self._has_said, names.nickname or names.companion, names.person)
        self._expressions = Expressions()
        self._lines = LineReader(names, self._has_said, tools, keeps_directions=keeps_directions)
        self._loops = LoopReader()
        self._trims_start = not text
        self._waiting: list[Felt] = []
        self.cut: Cut | None = None

    def take(self, piece: str) -> list[Part]:
        """Return the parts that are certain by now; what may become a tag or a label is held back."""
        return self._read(self._markup.take(piece))

    def end(self, *, is_cut: bool = False) -> list[Part]:
        """Return what was held back; pass `is_cut` if the model was cut off at its token limit."""
        parts = self._read(self._markup.end())
        if self.cut is None:
            parts += self._clean(self._expressions.end())
        if self.cut is None:
            parts += self._give(self._lines.end())
            parts += self._end_loops(is_cut=is_cut)
        return parts

    def _read(self, found: Iterable[str | Thought | TextCall]) -> list[Part]:
        parts: list[Part] = []
        for part in found if self.cut is None else ():
            parts += self._clean(self._expressions.take(part)) if isinstance(part, str) else [part]
            if self.cut is not None:
                break
        if self._markup.is_ended and self.cut is None:
            parts += self._clean(self._expressions.end())
        if self._markup.is_ended and self.cut is None:
            parts += self._give(self._lines.end(is_cut=True))
            self.cut = self.cut or Cut.TURN
            parts += self._end_loops()
        return parts

    def _has_said(self) -> bool:
        return self.has_text or self._lines.holds_text

    def _clean(self, parts: Iterable[str | Felt]) -> list[Part]:
        """Return the text and emotions without labels and loops. Another speaker's label or a loop ends the answer."""
        cleaned: list[Part] = []
        for part in parts:
            if self.cut is None:
                cleaned += self._give([part] if isinstance(part, Felt) else self._lines.take(part))
                if self._lines.is_ended and self.cut is None:
                    self.cut = Cut.TURN
                    cleaned += self._end_loops()
        return cleaned

    def _give(self, parts: Iterable[str | Felt | TextCall]) -> list[Part]:
        given: list[Part] = []
        for part in parts:
            if not isinstance(part, str):
                given.append(replace(part, at=self._length) if isinstance(part, Felt) else part)
                continue
            text = part if self.has_text or not self._trims_start else part.lstrip()
            given += self._note(self._loops.take(text))
            self.has_text = self.has_text or bool(text.strip())
            if self._loops.is_ended:
                self.cut = Cut.LOOP
                break
        return given

    def _note(self, text: str) -> list[Part]:
        self._length += len(text)
        return [text] if text else []

    def _end_loops(self, *, is_cut: bool = False) -> list[Part]:
        """Return the text that was held back as a possible loop, and set `cut` if it is one."""
        rest = self._note(self._loops.end(is_cut=is_cut))
        self.cut = Cut.LOOP if self._loops.is_ended else self.cut
        return rest


def clean_text(
    text: str,
    names: Names,
    tools: Collection[str] = (),
    *,
    keeps_directions: bool = True,
    is_cut: bool = False,
) -> tuple[str, list[Felt]]:
    """Return the companion's words in a model's complete text, or "" if none are left, and the emotions in it.

    `tools` and `is_cut` are those of `AnswerCleaner`.
    """
    cleaner = AnswerCleaner(names, tools=tools, keeps_directions=keeps_directions)
    parts = [*cleaner.take(text), *cleaner.end(is_cut=is_cut)]
    words = "".join(part for part in parts if isinstance(part, str)).rstrip()
    words = drop_repetitions(words) if cleaner.cut is Cut.LOOP else words
    return words, [replace(part, at=min(part.at, len(words))) for part in parts if isinstance(part, Felt)]
