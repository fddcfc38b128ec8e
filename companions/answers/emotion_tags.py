"""Separate the emotion tags in a model's answer from its text while it streams. Pure.

    <emotion happy 0.7>

The name is one of memory.emotion.Emotion, any other counts as neutral; the number is the intensity, 0 to 1. Parsing is
lenient: any case, punctuation around the name, an element with an end tag, full-width brackets. A broken or unclosed
tag is removed too: with its name and number, if it has both, and otherwise up to the next line or tag, at most 80
characters of it. Any other text with a "<" stays.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import regex

from memory.emotion import Emotion

MAX_TAG_CHARACTERS = 80
DEFAULT_INTENSITY = 0.5  # if a tag has no number
EMOTIONS = "|".join(Emotion.values)
SIGN, WORD = re.compile("[<＜]"), re.compile(r"\w")
NAME = "emotions?(?:[_-]?tags?)?"  # the prompt's rules speak of an "emotion tag", so small models use that as its name
HEAD = re.compile(rf"[<＜](\s{{0,2}})([/／]?)\s{{0,2}}{NAME}(?=[^\w-])", re.IGNORECASE)
BEGUN = regex.compile(rf"[<＜]\s{{0,2}}[/／]?\s{{0,2}}(?:{NAME})?", regex.IGNORECASE)
CONTENT = regex.compile(rf"([^<＜\n]*)[<＜]\s{{0,2}}[/／]\s{{0,2}}{NAME}\s{{0,2}}[>＞]", regex.IGNORECASE)
WHOLE = regex.compile(  # all that a tag needs but its end, before a word that is said
    rf"[\s:=\"']{{0,4}}(?:{EMOTIONS})[\s:=,\"']{{1,4}}(?:\d+(?:[.,]\d+)?|[.,]\d+)%?"
    r"(?=\s+[^\s\p{P}]{1,30}(?:[\s\p{P}]|$))",
    regex.IGNORECASE,
)
END = re.compile(r"[>＞\n<＜]")
NUMBER = re.compile(r"(\d+(?:[.,]\d+)?|[.,]\d+)\s*(%?)")
SPACES, LINE, ANY = re.compile(r"[^\S\n]*"), re.compile(r"[^\S\n]*\n?"), re.compile(r"\s*")


@dataclass(frozen=True, slots=True)
class Felt:
    """An emotion from the offset `at` in the text on, with its intensity, 0 to 1."""

    at: int
    emotion: Emotion
    intensity: float

    def row(self) -> dict[str, object]:
        """Return the emotion as it is stored and sent."""
        return {"at": self.at, "emotion": self.emotion.value, "intensity": self.intensity}

    @classmethod
    def parse(cls, at: int, words: str) -> "Felt":
        """Return the emotion that the words of a tag name, or a neutral one."""
        known = (name for name in re.findall("[a-z]+", words.casefold()) if name in Emotion.values)
        intensity = DEFAULT_INTENSITY
        if found := NUMBER.search(words):
            number = float(found[1].replace(",", "."))
            intensity = round(min(number / 100 if found[2] else number, 1.0), 2)
        return cls(at, Emotion(next(known, Emotion.NEUTRAL)), intensity)


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag that ends at the offset `end` of the text, with its words besides its name."""

    end: int
    words: str = ""


class Expressions:
    """Reads the text and emotions of one answer from pieces cut anywhere."""

    def __init__(self) -> None:
        self._length, self._last, self._held = 0, "", ""
        self._gap: re.Pattern[str] | None = None  # the white space to remove along with the tag before it

    def take(self, piece: str) -> list[str | Felt]:
        """Return the text and emotions that are certain by now, in order; what may be a tag is held back."""
        return self._read(self._held + piece, is_end=False)

    def end(self) -> list[str | Felt]:
        """Return the text that was held back, without the beginning of a tag."""
        return self._read(self._held, is_end=True)

    def _read(self, text: str, *, is_end: bool) -> list[str | Felt]:
        parts: list[str | Felt] = []
        begin = at = 0
        while found := SIGN.search(text, at):
            tag = _find_tag(text, found.start(), is_end=is_end)
            if tag is None:
                break
            if tag.end > found.start():
                parts += self._take_text(text[begin : found.start()])
                begin = tag.end
                # The white space on one side of the tag is removed with it.
                if not self._last or self._last.isspace():
                    self._gap = {"": ANY, "\n": LINE}.get(self._last, SPACES)
                if WORD.search(tag.words):
                    parts.append(Felt.parse(self._length, tag.words))
            at = max(tag.end, found.end())
        end = found.start() if found else len(text)
        parts += self._take_text(text[begin:end])
        self._held = text[end:]
        return parts

    def _take_text(self, text: str) -> list[str]:
        if self._gap and (gone := self._gap.match(text)):
            text = text[gone.end() :]
            self._gap = None if text or (self._gap is LINE and gone[0].endswith("\n")) else self._gap
        if text:
            self._length, self._last = self._length + len(text), text[-1]
        return [text] if text else []


def _find_tag(text: str, at: int, *, is_end: bool) -> Tag | None:
    """Return the tag at `at`, or None if more text is needed to decide. If no tag is there, it ends where it begins."""
    head, most = HEAD.match(text, at), at + MAX_TAG_CHARACTERS
    if head is None:
        return _find_begun_tag(text, at, is_end=is_end)
    end = END.search(text, head.end(), most)
    if end is None and len(text) < most and not is_end:
        return None
    is_closed, stop = bool(end and end[0] in ">＞"), end.start() if end else min(len(text), most)
    words = "" if head[2] else text[head.end() : stop]
    if not is_closed:
        if head[1]:
            return Tag(at, words)  # "joy < emotion" may be meant
        whole = WHOLE.match(text, head.end(), stop)
        return Tag(whole.end(), whole[0]) if whole else Tag(stop, words)
    is_told = head[2] or WORD.search(words)
    return Tag(stop + 1, words) if is_told else _find_content(text, stop + 1, most, is_end=is_end)


def _find_begun_tag(text: str, at: int, *, is_end: bool) -> Tag | None:
    """Return what `_find_tag` does, for a tag of which only the beginning has come. If the answer ends there, it counts
    as a tag once a part of its name is there.
    """
    begun = BEGUN.fullmatch(text, at, partial=True)
    if begun is None:
        return Tag(at)
    if not is_end:
        return None
    is_one = begun[0][1:2].isalpha() or "emo" in begun[0].casefold()
    return Tag(len(text) if is_one else at)


def _find_content(text: str, at: int, most: int, *, is_end: bool) -> Tag | None:
    """Return the rest of an element with the emotion between two tags, as in <emotion>happy</emotion>."""
    found = CONTENT.match(text, at, most, partial=True)
    if found and not found.partial:
        return Tag(found.end(), found[1])
    return Tag(at) if found is None or is_end or len(text) >= most else None


def split_emotions(text: str) -> tuple[str, list[Felt]]:
    """Return a complete text without its emotion tags, and their emotions."""
    reading = Expressions()
    parts = [*reading.take(text), *reading.end()]
    words = "".join(part for part in parts if isinstance(part, str))
    return words, [part for part in parts if isinstance(part, Felt)]


def without_tags(text: str) -> str:
    """Return a complete text without its emotion tags."""
    return split_emotions(text)[0] if SIGN.search(text) else text


def felt_at(emotions: Sequence[Mapping[str, object]], at: int) -> Mapping[str, object] | None:
    """Return the stored emotion that holds at the offset `at` of the text, or None before the first."""
    return next((emotion for emotion in reversed(emotions) if int(str(emotion["at"])) <= at), None)
