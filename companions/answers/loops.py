"""Detect loops, i.e. a model that repeats itself, while its answer streams, in bounded memory. Pure.

A loop is a run of words (of characters, in scripts without spaces) that occurs several times in a row. After a full
repetition, the text that repeats further is held back until it either breaks off, as a refrain does, or is a loop. Text
of which nearly every word was said twice before is held back, too, since a model may repeat itself without a fixed
period. And a sentence said a fourth time (a short one a fifth) with hardly another in between is a loop as well.
"""

from collections import Counter, OrderedDict, deque

import regex

from text.strings import cut_sentences

GRAM_TOKENS = 4  # a repetition begins with so many equal tokens in a row
MAX_PERIOD_TOKENS = 600
MAX_GRAMS = 4000
MIN_LOOP_CHARACTERS = 240
MIN_SIGNS_CHARACTERS = 3000  # of a loop without letters, e.g. the rows of a table or drawn lines
COPIES = ((300, 4), (100, 5), (0, 6))  # at least so many characters, and how many copies of them make a loop
ENDED_COPIES = 4  # copies that make a loop if the answer ends within them
MIN_ENDED_CHARACTERS = 100
STALE_BEFORE = 2  # a word is stale if it ends a gram that occurred at least so often before
HELD_STALE = (40, 36)  # text is held back once, of so many last words, so many are stale
GIVEN_STALE = 30  # it is let go once fewer of these last words are stale
LOOP_STALE = (120, 108)  # it is a loop once, of so many last words, so many are stale
MIN_SENTENCE_TOKENS = 6
LAST_SENTENCES, MAX_DISTINCT = 6, 3  # at most so many different ones among the last: hardly another was said
MIN_TIMES, MIN_REPEATED_TOKENS = 4, 24  # occurrences of a sentence, and tokens of its repetitions, in a loop
ENDS_SENTENCE = {*".!?…。！？\n"}
TOKEN = regex.compile(
    r"\n|[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}]|(?:(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}])[\w'’]){1,20}|[^\s\w]"
)
WORDS = regex.compile(r"\p{L}+")


def drop_repetitions(text: str) -> str:
    """Return an answer that was cut off as a loop with each of its sentences once.

    Sentences that differ in numbers only count as the same, and so does one that breaks off.
    """
    kept, waiting = "", ""  # waiting are numbers and marks, which go with the sentence that they stand before
    said: set[str] = set()
    sentences = cut_sentences(text)
    for place, sentence in enumerate(sentences, start=1):
        words = " ".join(WORDS.findall(sentence.casefold()))
        waiting += sentence
        if words:
            breaks_off = place == len(sentences) and any(before.startswith(words) for before in said)
            if words not in said and not breaks_off:
                kept += waiting
                said.add(words)
            waiting = ""
    return kept.rstrip() or text


class LoopReader:
    """Reads the text of one answer up to a loop from pieces cut anywhere; `is_ended` is True once there is a loop."""

    def __init__(self) -> None:
        # For each gram: the position where it occurred last, and how often it occurred.
        self._seen: OrderedDict[tuple[str, ...], tuple[int, int]] = OrderedDict()
        self._stale: deque[bool] = deque(maxlen=LOOP_STALE[0])  # which of the last words are stale
        self._stale_sums = [0, 0]  # stale words among the last 40 and the last 120
        self._stale_from: int | None = None
        self._sentence: list[str] = []
        self._sentence_from = 0  # in characters
        self._sentences: Counter[tuple[str, ...]] = Counter()
        self._last_sentences: deque[tuple[str, ...]] = deque(maxlen=LAST_SENTENCES)
        self._is_going_round = False  # if so, the next sentence is held back until it is complete
        # The last tokens, each with the offset where it ends.
        self._tokens: deque[tuple[str, int]] = deque(maxlen=MAX_PERIOD_TOKENS + GRAM_TOKENS + 1)
        self._count = 0
        self._period = self._matched = 0  # in tokens: distance to the same text before, length of the match
        self._began = 0  # where the repetition began, in characters
        self._rest = ""  # a word that may not be complete
        self._read = 0  # characters
        self._given = 0
        self._waiting: list[str] = []
        self._repeated_from: int | None = None
        self.is_ended = False

    def take(self, text: str) -> str:
        """Return the text that may be passed on by now."""
        if self.is_ended:
            return ""
        self._waiting.append(text)
        scanned = self._rest + text
        start = self._read - len(self._rest)
        self._read += len(text)
        end = 0
        for found in TOKEN.finditer(scanned):
            if found.end() == len(scanned) and found[0][-1].isalnum():
                break  # it may not be complete
            end = found.end()
            self._note(found[0], start + end)
            if self.is_ended:
                break
        else:
            end = len(scanned)
        self._rest = scanned[end:][-40:]
        return self._give()

    def end(self, *, is_cut: bool = False) -> str:
        """Return what was held back, unless it is a loop. If the answer `is_cut` while it repeats itself, it is one."""
        if self.is_ended:
            return ""
        if self._rest:
            self._note(self._rest, self._read)
        unit = self._unit_characters()
        copies = 1 + self._matched / self._period if self._period else 0
        if self._repeated_from is not None and copies >= ENDED_COPIES and unit >= MIN_ENDED_CHARACTERS:
            self.is_ended = True
            return self._give()
        self._end_sentence(self._read)
        self.is_ended = self.is_ended or (is_cut and (self._stale_from is not None or self._is_going_round))
        if not self.is_ended:
            self._repeated_from = self._stale_from = None
            self._is_going_round = False
        return self._give()

    def _give(self) -> str:
        sentence_from = self._sentence_from if self._is_going_round else None
        held = [
            place for place in (self._repeated_from, self._stale_from, sentence_from) if place is not None
        ]
        until = min(held, default=self._read)
        size = max(until - self._given, 0)
        if not size:
            return ""
        text = "".join(self._waiting)
        given, rest = text[:size], text[size:]
        self._given += len(given)
        self._waiting = [rest] if rest and not self.is_ended else []
        return given

    def _note(self, word: str, end: int) -> None:
        """Compare a word or character, which ends at the offset `end`, with the text before it."""
        word = word.casefold()
        if word.isdigit() and self._tokens and self._tokens[-1][0] == "\n":
            word = "1"  # all numbers of a list's items count as equal
        if self._period and self._look_back(self._period - 1) == word:
            self._matched += 1
        else:
            self._period = self._matched = 0
            self._repeated_from = None
        self._tokens.append((word, end))
        self._count += 1
        if len(self._tokens) >= GRAM_TOKENS:
            gram = tuple(self._tokens[at][0] for at in range(-GRAM_TOKENS, 0))
            before, times = self._seen.pop(gram, (None, 0))
            self._seen[gram] = self._count, times + 1
            if len(self._seen) > MAX_GRAMS:
                self._seen.popitem(last=False)
            self._note_stale(times >= STALE_BEFORE and any(word[0].isalpha() for word in gram), end)
            if before is not None and not self._period and self._count - before <= MAX_PERIOD_TOKENS:
                self._period, self._matched = self._count - before, GRAM_TOKENS
        if self._period:
            self._judge(end)
        if word in ENDS_SENTENCE:
            self._end_sentence(end)
        elif word[0].isalnum():
            self._sentence.append(word)

    def _end_sentence(self, end: int) -> None:
        """Count a complete sentence; end the answer before it if it repeats with only a few others in between."""
        sentence = tuple(self._sentence)
        self._sentence.clear()
        if len(sentence) >= MIN_SENTENCE_TOKENS:
            self._sentences[sentence] += 1
            self._last_sentences.append(sentence)
            last = {*self._last_sentences}
            times = self._sentences[sentence]
            is_narrow = len(last) <= MAX_DISTINCT
            if is_narrow and times >= MIN_TIMES and (times - 1) * len(sentence) >= MIN_REPEATED_TOKENS:
                self._is_going_round = self.is_ended = True
                return
            self._is_going_round = is_narrow and max(map(self._sentences.__getitem__, last)) >= MIN_TIMES - 1
        self._sentence_from = end

    def _note_stale(self, is_stale: bool, end: int) -> None:
        """Note whether a word is stale; hold text back while many are, and end the answer if too many are."""
        few, many = HELD_STALE[0], LOOP_STALE[0]
        leaving = (
            (self._stale[-few] if len(self._stale) >= few else False),
            (self._stale[0] if len(self._stale) == many else False),
        )
        self._stale.append(is_stale)
        self._stale_sums = [
            total + is_stale - left for total, left in zip(self._stale_sums, leaving, strict=True)
        ]
        if self._stale_from is None and self._stale_sums[0] >= HELD_STALE[1]:
            self._stale_from = end
        elif self._stale_sums[0] < GIVEN_STALE:
            self._stale_from = None
        self.is_ended = self.is_ended or (
            self._stale_from is not None and self._stale_sums[1] >= LOOP_STALE[1]
        )

    def _look_back(self, distance: int) -> str:
        return self._tokens[-1 - distance][0] if distance < len(self._tokens) else ""

    def _end_of(self, distance: int) -> int:
        return self._tokens[-1 - distance][1] if distance < len(self._tokens) else 0

    def _unit_characters(self) -> int:
        return self._tokens[-1][1] - self._end_of(self._period) if self._period else 0

    def _judge(self, end: int) -> None:
        """Hold back what follows a full repetition, and end the answer if it is a loop."""
        if self._matched == GRAM_TOKENS:
            self._began = self._end_of(GRAM_TOKENS)
        unit, repeated = self._unit_characters(), end - self._began
        if self._repeated_from is None and self._matched >= self._period:
            self._repeated_from = end
        copies = next(count for least, count in COPIES if unit >= least)
        if self._matched < (copies - 1) * self._period or repeated < MIN_LOOP_CHARACTERS:
            return
        has_letters = any(
            self._look_back(at)[0].isalpha() for at in range(min(self._period, len(self._tokens)))
        )
        self.is_ended = self.is_ended or has_letters or repeated >= MIN_SIGNS_CHARACTERS
