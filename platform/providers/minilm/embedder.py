"""The embedder that is built in."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Encoding, Tokenizer

from providers.manner import PLAIN
from providers.minilm.weights import SHA256, load_tensors, load_tokenizer
from providers.vectors import Floats, normalised

if TYPE_CHECKING:
    from providers.minilm.bert import Bert

CLS, SEP = 101, 102  # the ids of [CLS] and [SEP] in the vocabulary
SPECIAL_TOKENS = 2
OVERLAP_TOKENS = 48
BATCH_TEXTS = 64
BATCH_TOKENS = 1024  # more at once take more memory and are no sooner done


class MiniLM:
    """all-MiniLM-L6-v2: English, 384 dimensions, length 1. Loaded at its first use; safe in many threads.

    ProviderRefused is raised at that first use where the weights are not the published ones.
    """

    model = "all-MiniLM-L6-v2"
    manner = PLAIN
    width = 384
    max_tokens = 256

    def __init__(self, folder: Path, *, sha256: str = SHA256) -> None:
        self._folder = folder
        self._sha256 = sha256
        self._lock = Lock()

    def windows(self, text: str) -> list[str]:
        """The text itself, or where it has more than 256 tokens its overlapping parts, cut between words."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans = list(self._spans(encoding))
        if len(spans) == 1:
            return [text]
        offsets = encoding.offsets  # made anew at each look
        return [text[offsets[first][0] : offsets[last - 1][1]] for first, last in spans]

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """(n, 384) for n texts; a text of several windows gets the direction of their mean."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        rows = [(at, e.ids[first:last]) for at, e in enumerate(encodings) for first, last in self._spans(e)]
        summed = np.zeros((len(texts), self.width), dtype=np.float32)
        rows.sort(key=lambda row: len(row[1]))
        for batch in _batches(rows):
            vectors = self._bert.pooled([[CLS, *ids, SEP] for _, ids in batch])
            np.add.at(summed, [at for at, _ in batch], vectors)
        return normalised(summed)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """(n, 384) for questions; this model reads questions and documents alike."""
        return self.embed_documents(texts)

    def load(self) -> None:
        """Load now what would be loaded at the first use."""
        _ = self._bert, self._tokenizer

    @property
    def _tokenizer(self) -> Tokenizer:
        with self._lock:
            return self._loaded_tokenizer

    @property
    def _bert(self) -> "Bert":
        with self._lock:
            return self._loaded_bert

    @cached_property
    def _loaded_tokenizer(self) -> Tokenizer:
        return load_tokenizer(self._folder)

    @cached_property
    def _loaded_bert(self) -> "Bert":
        from providers.minilm.bert import Bert  # a third of a second, which only those who embed wait for

        return Bert(load_tensors(self._folder, self._sha256))

    def _spans(self, encoding: Encoding) -> Iterator[tuple[int, int]]:
        """First and last token (exclusive) of each window; a new one begins at a word's first token."""
        room, words, first = self.max_tokens - SPECIAL_TOKENS, encoding.word_ids, 0
        while len(words) - first > room:
            last = _word_start(words, first + room)
            yield first, last
            first = max(_word_start(words, last - OVERLAP_TOKENS), first + 1)
        yield first, len(words)


def _word_start(words: Sequence[int | None], at: int) -> int:
    while at > 0 and words[at] == words[at - 1]:
        at -= 1
    return at


def _batches(rows: Sequence[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Rows of like length together, as they are sorted by it."""
    batch: list[tuple[int, list[int]]] = []
    for row in rows:
        if len(batch) == BATCH_TEXTS or (batch and (len(batch) + 1) * len(row[1]) > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
