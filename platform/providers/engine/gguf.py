"""What a model file in GGUF says of itself, read from its head alone.

The format is that of ggml-org/ggml, docs/gguf.md, versions 2 and 3. The `gguf` package reads all of a file's vocabulary
into Python, seconds and hundreds of megabytes of it, to tell the ten numbers that are wanted here.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _

MAGIC = b"GGUF"
VERSIONS = {2, 3}
MAX_ENTRIES = 100_000  # of metadata, or tensors
MAX_STRING_BYTES = 10_000_000  # a chat template has tens of thousands
MAX_ARRAY = 10_000_000
MAX_DIMENSIONS = 8
ALIGNMENT = 32
STRING, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
# Of the types of tensors: so many weights stand in so many bytes. Of one that is not here the size is not known.
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    20: (32, 18), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2), 39: (32, 17),
}  # fmt: skip


class ModelFileError(Exception):
    """Why a file is no model that can be run, in one sentence for the operator: English in logs, translated on pages.

    `sentence` names its values as `%(path)s`.
    """

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(sentence % values)
        self._sentence, self._values = sentence, values

    def translate(self) -> str:
        """Return the sentence in the language that is in force; Django's settings are needed for it."""
        return gettext(self._sentence) % self._values


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file: what it is called, for how many tokens of context it was made, and what that takes."""

    path: Path
    name: str
    architecture: str
    size_bytes: int
    context_tokens: int  # 0 where it does not say
    context_token_bytes: int  # what each token of the context takes beside the weights
    has_template: bool  # of a chat
    has_pooling: bool  # it says how the vector of a text is made of those of its tokens

    def estimate_bytes(self, context_tokens: int) -> int:
        """Return about how much memory it takes with a context of so many tokens."""
        return int(self.size_bytes * 1.05) + context_tokens * self.context_token_bytes + 200_000_000


def read_model_file(path: Path) -> ModelFile:
    """Return what the file says of itself; ModelFileError where it is missing, is no GGUF, or is cut short."""
    try:
        if path.is_dir():
            raise ModelFileError(
                _("%(path)s is a folder. Name the file in it that ends in .gguf."), path=path
            )
        if path.exists() and not path.is_file():  # to open a pipe would wait for whoever writes to it
            raise ModelFileError(_("%(path)s is no file."), path=path)
        with path.open("rb") as file:
            size = path.stat().st_size
            if file.read(4) != MAGIC:
                raise ModelFileError(
                    _("%(path)s is no model file in GGUF: it does not begin as one."), path=path
                )
            try:
                return _read(_Reader(file, size), path, size)
            except (struct.error, EOFError, OverflowError, UnicodeDecodeError) as error:
                raise ModelFileError(
                    _("%(path)s is cut short or damaged: fetch it again. Its head cannot be read."), path=path
                ) from error
    except OSError as error:
        raise ModelFileError(
            _("%(path)s cannot be read: %(reason)s."), path=path, reason=error.strerror
        ) from error


def _read(reader: "_Reader", path: Path, size: int) -> ModelFile:
    version = reader.number("I")
    if version not in VERSIONS:
        raise ModelFileError(
            _("%(path)s is a GGUF of version %(version)s; Kith's engine reads versions 2 and 3."),
            path=path,
            version=version,
        )
    tensors, entries = reader.count(), reader.count()
    said: dict[str, Any] = {}
    for _entry in range(entries):
        key = reader.text()
        said[key] = reader.value(reader.number("I"))
    end = _find_end(reader, tensors, _find_number(said, "general.alignment") or ALIGNMENT)
    if size < end:
        raise ModelFileError(
            _("%(path)s is cut short: %(count)s bytes are missing. Fetch it again."),
            path=path,
            count=f"{end - size:,}",
        )
    architecture = str(said.get("general.architecture", ""))
    return ModelFile(
        path=path,
        name=str(said.get("general.name") or path.stem),
        architecture=architecture,
        size_bytes=size,
        context_tokens=_find_number(said, f"{architecture}.context_length"),
        context_token_bytes=_count_context_bytes(said, architecture),
        has_template=bool(said.get("tokenizer.chat_template")),
        has_pooling=f"{architecture}.pooling_type" in said,
    )


def _find_end(reader: "_Reader", tensors: int, alignment: int) -> int:
    """Return where the last tensor ends, as far as its size is known."""
    end = 0
    for _tensor in range(tensors):
        reader.text()
        dimensions = reader.number("I")
        if dimensions > MAX_DIMENSIONS:
            raise EOFError
        weights = 1
        for _dimension in range(dimensions):
            weights *= reader.number("Q")
        block, block_bytes = BLOCKS.get(reader.number("I"), (1, 0))
        end = max(end, reader.number("Q") + weights // block * block_bytes)
    begins = -(-reader.place // alignment) * alignment
    return begins + end if tensors else 0


def _find_number(said: Mapping[str, Any], key: str) -> int:
    """Return a whole number that the file says; 0 where it says none, or less."""
    value = said.get(key)
    return max(value, 0) if isinstance(value, int) else 0


def _count_context_bytes(said: Mapping[str, Any], architecture: str) -> int:
    """Return what keys and values of one token take in all layers, in 16 bits each; 0 where the file does not say."""

    def find(name: str) -> int:
        return _find_number(said, f"{architecture}.{name}")

    heads = find("attention.head_count") or 1
    width = find("attention.key_length") or find("embedding_length") // heads
    return find("block_count") * (find("attention.head_count_kv") or heads) * width * 2 * 2


class _Reader:
    """The head of a file, read forward; EOFError where it ends or says what cannot be."""

    def __init__(self, file: BufferedReader, size: int) -> None:
        self._file, self._size = file, size

    @property
    def place(self) -> int:
        return self._file.tell()

    def take(self, count: int) -> bytes:
        read = self._file.read(count)
        if len(read) < count:
            raise EOFError
        return read

    def number(self, kind: str) -> Any:
        return struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))[0]

    def count(self) -> int:
        count = int(self.number("Q"))
        if count > MAX_ENTRIES:
            raise EOFError
        return count

    def text(self) -> str:
        length = self.number("Q")
        if length > min(MAX_STRING_BYTES, self._size):
            raise EOFError
        return self.take(length).decode("utf-8", "replace")

    def value(self, kind: int) -> Any:
        """Return a value; of an array only how long it is, for none is needed here."""
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            each, length = self.number("I"), self.number("Q")
            if length > MAX_ARRAY or each == ARRAY:  # no model has one within another
                raise EOFError
            if each in SCALARS:
                self._file.seek(length * struct.calcsize(f"<{SCALARS[each]}"), 1)
            else:
                for _element in range(length):
                    self.value(each)
            return [length]
        if kind not in SCALARS:
            raise EOFError
        return self.number(SCALARS[kind])
