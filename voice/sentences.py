"""A text's sentences while it still comes: each once, as soon as its end is sure, however the text is cut in pieces."""

from dataclasses import dataclass

from voice.cutting import CODE, Cut
from voice.reading_out import reading_out


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with something to say: its number from 0, its place in the text in characters, and what is said."""

    number: int
    start: int
    end: int
    text: str
    said: str


class Sentences:
    """Takes a text piece by piece. What holds nothing to be said, like code or an emoji, has no number."""

    def __init__(self) -> None:
        self._waiting = ""
        self._start = 0  # of what waits, in the text
        self._count = 0
        self._is_code = False

    def take(self, text: str) -> list[Sentence]:
        """The sentences that are complete with this piece."""
        self._waiting += text
        return self._cut(is_all=False)

    def end(self) -> list[Sentence]:
        """Those that are complete because nothing more comes."""
        return self._cut(is_all=True)

    def _cut(self, *, is_all: bool) -> list[Sentence]:
        found: list[Sentence] = []
        while self._waiting:
            if self._is_code:
                self._pass_code()
                if self._is_code:
                    break
            self._drop(len(self._waiting) - len(self._waiting.lstrip()))
            if self._waiting.startswith(CODE):
                self._is_code = True
                self._drop(len(CODE))
                continue
            end = Cut(self._waiting, is_all, is_first=self._count == 0).end()
            if end is None or not self._waiting:
                break
            found += self._sentence(end)
        return found

    def _sentence(self, end: int) -> list[Sentence]:
        text = self._waiting[:end].rstrip()
        start, said = self._start, reading_out(text)
        self._drop(end)
        if not said:
            return []
        self._count += 1
        return [Sentence(self._count - 1, start, start + len(text), text, said)]

    def _pass_code(self) -> None:
        """Leave what belongs to the code behind; of what may be the beginning of its end, nothing."""
        closed = self._waiting.find(CODE)
        self._is_code = closed < 0
        self._drop(max(0, len(self._waiting) - len(CODE) + 1) if self._is_code else closed + len(CODE))

    def _drop(self, count: int) -> None:
        self._waiting = self._waiting[count:]
        self._start += count


def sentences_of(text: str) -> list[Sentence]:
    """Every sentence of a text that is complete."""
    cut = Sentences()
    return cut.take(text) + cut.end()
