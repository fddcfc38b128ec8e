"""A text's sentences while it still comes: each once, as soon as its end is sure, however the text is cut in pieces."""

from dataclasses import dataclass

from voice.speech.speech_filter import filter_speech
from voice.speech.splitter import CODE, find_end


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence with something to say: its number from 0, its place in the text in characters, and what is said."""

    number: int
    start: int
    end: int
    text: str
    said: str


class SentenceStream:
    """Takes a text piece by piece. What holds nothing to be said, like code or an emoji, has no number."""

    def __init__(self) -> None:
        self._waiting = ""
        self._start = 0  # of what waits, in the text
        self._count = 0
        self._is_code = False

    def add(self, text: str) -> list[Sentence]:
        """Return the sentences that are complete with this piece."""
        self._waiting += text
        return self._take_sentences(is_all=False)

    def finish(self) -> list[Sentence]:
        """Return those that are complete because nothing more comes."""
        return self._take_sentences(is_all=True)

    def _take_sentences(self, *, is_all: bool) -> list[Sentence]:
        found: list[Sentence] = []
        while self._waiting:
            if self._is_code:
                self._skip_code()
                if self._is_code:
                    break
            self._drop(len(self._waiting) - len(self._waiting.lstrip()))
            if self._waiting.startswith(CODE):
                self._is_code = True
                self._drop(len(CODE))
                continue
            end = find_end(self._waiting, is_all=is_all, is_first=self._count == 0)
            if end is None or not self._waiting:
                break
            text = self._waiting[:end].rstrip()
            if said := filter_speech(text):
                found.append(Sentence(self._count, self._start, self._start + len(text), text, said))
                self._count += 1
            self._drop(end)
        return found

    def _skip_code(self) -> None:
        """Leave what belongs to the code behind; of what may be the beginning of its end, nothing."""
        closed = self._waiting.find(CODE)
        self._is_code = closed < 0
        self._drop(max(0, len(self._waiting) - len(CODE) + 1) if self._is_code else closed + len(CODE))

    def _drop(self, count: int) -> None:
        self._waiting = self._waiting[count:]
        self._start += count


def split_sentences(text: str) -> list[Sentence]:
    """Return every sentence of a text that is complete."""
    stream = SentenceStream()
    return stream.add(text) + stream.finish()
