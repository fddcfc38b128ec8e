"""The metadata of a model file in GGUF, read from its head alone.

The format is that of ggml-org/ggml, docs/gguf.md, versions 2 and 3. The `gguf` package would load a file's whole
vocabulary into Python, which takes seconds and hundreds of megabytes, for the ten numbers that are wanted here. A file
may be hostile: what is not wanted is skipped, and the size and contents of its head are limited.
"""

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from io import BufferedReader
from pathlib import Path
from typing import Any

from django.utils.translation import gettext

from text.strings import storable

MAGIC = b"GGUF"
# The name of one file of a model in several files, as llama.cpp's gguf-split writes them; the engine is given the first.
PART = re.compile(r"(?P<name>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)
MAX_PARTS = 1000  # a file named as one of more parts is treated as a whole model
VERSIONS = {2, 3}
MAX_HEAD_BYTES = 64_000_000  # a vocabulary of 262,144 tokens takes about 10 MB
MAX_STRINGS = 1_000_000  # in all lists together; the largest vocabularies, with their merges, have 780,000
MAX_ENTRIES = 10_000  # of metadata
MAX_TENSORS = 100_000
MAX_CHARACTERS = 200  # of a string; the rest is skipped
MAX_DIMENSIONS = 8
ALIGNMENT = 32
STRING, ARRAY = 8, 9
SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
# The endings of the metadata's keys that are read: keys of the architecture's numbers begin with its name.
WANTED = (
    "general.architecture", "general.name", "general.alignment", "tokenizer.chat_template", ".context_length",
    ".block_count", ".embedding_length", ".attention.head_count", ".attention.head_count_kv", ".attention.key_length",
    ".pooling_type",
)  # fmt: skip
# For each type of tensor: so many weights take so many bytes. The sizes of other types are not known.
BLOCKS = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 9: (32, 40),
    10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 15: (256, 292),
    20: (32, 18), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8), 28: (1, 8), 30: (1, 2), 39: (32, 17),
}  # fmt: skip


def gettext_noop(sentence: str) -> str:
    """Mark the sentence for translation. Django's own needs its settings, which `make up` does not have yet."""
    return sentence


_ = gettext_noop


class ModelFileError(Exception):
    """A file is no model that can be run. Its one sentence for the operator is English in logs, translated on pages.

    `sentence` names its `values` as in `%(path)s`.
    """

    def __init__(self, sentence: str, **values: object) -> None:
        super().__init__(sentence % values)
        self._sentence, self._values = sentence, values

    def translate(self) -> str:
        """Return the sentence in the active language. This needs Django's settings."""
        return gettext(self._sentence) % self._values


class HeadTooLargeError(Exception):
    """The file's head is larger, or holds more strings, than any model needs."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """A model file's name, kind and size, the context that it was made for, and the memory that context takes."""

    path: Path
    name: str
    architecture: str
    size_bytes: int
    context_tokens: int  # 0 if the file does not say
    context_token_bytes: int  # memory for each token of context, in addition to the weights
    has_template: bool  # the file has a chat template
    has_pooling: bool  # the file says how a text's vector is computed from those of its tokens

    @property
    def is_embedder(self) -> bool:
        """Return whether the model was made to embed texts, judged by its architecture or pooling."""
        return self.has_pooling or self.architecture.endswith("bert")

    def estimate_bytes(self, context_tokens: int) -> int:
        """Estimate how much memory the model takes with so many tokens of context."""
        return int(self.size_bytes * 1.05) + context_tokens * self.context_token_bytes + 200_000_000


def find_parts(path: Path) -> list[Path]:
    """Return all files, existing or not, of the model that `path` is a part of; `path` alone if it is no part."""
    part = PART.fullmatch(path.name)
    if not part or not 1 <= int(part["number"]) <= int(part["count"]) <= MAX_PARTS:
        return [path]
    numbers = range(1, int(part["count"]) + 1)
    return [path.with_name(f"{part['name']}-{number:05}-of-{part['count']}.gguf") for number in numbers]


def read_model_file(path: Path) -> ModelFile:
    """Return the model's metadata. Raise ModelFileError if one of its files is missing, is no GGUF, or is cut short.

    The `path` of a model in several files must be that of the first; the model's size is that of all of them.
    """
    first, *others = parts = find_parts(path)
    if path != first:
        raise ModelFileError(
            _("%(path)s is one of %(count)s files of a model. Choose the first one: %(first)s."),
            path=path,
            count=len(parts),
            first=first.name,
        )
    for part in parts if others else ():
        if not part.exists():
            raise ModelFileError(
                _(
                    "%(path)s is missing: it is one of %(count)s files of a model. Download it to the same folder."
                ),
                path=part,
                count=len(parts),
            )
    model = _read_file(first)
    return replace(model, size_bytes=model.size_bytes + sum(_read_file(part).size_bytes for part in others))


def _read_file(path: Path) -> ModelFile:
    try:
        if path.is_dir():
            raise ModelFileError(_("%(path)s is a folder. Give the path of the .gguf file in it."), path=path)
        if path.exists() and not path.is_file():  # opening a named pipe would block
            raise ModelFileError(_("%(path)s is not a file."), path=path)
        with path.open("rb") as file:
            size = path.stat().st_size
            if file.read(4) != MAGIC:
                raise ModelFileError(
                    _("%(path)s is not a GGUF model file: it does not begin like one."), path=path
                )
            try:
                return _read(_Reader(file, size), path, size)
            except HeadTooLargeError as error:
                raise ModelFileError(
                    _(
                        "%(path)s has a larger header than any model needs: more than %(megabytes)s MB, or more than"
                        " %(count)s words in its lists. Download another file."
                    ),
                    path=path,
                    megabytes=MAX_HEAD_BYTES // 1_000_000,
                    count=f"{MAX_STRINGS:,}",
                ) from error
            except (struct.error, EOFError, OverflowError) as error:
                raise ModelFileError(
                    _("%(path)s is cut short or damaged: its header cannot be read. Download it again."),
                    path=path,
                ) from error
    except OSError as error:
        raise ModelFileError(
            _("%(path)s cannot be read: %(reason)s."), path=path, reason=error.strerror
        ) from error


def _read(reader: "_Reader", path: Path, size: int) -> ModelFile:
    version = reader.number("I")
    if version not in VERSIONS:
        raise ModelFileError(
            _("%(path)s is a GGUF file of version %(version)s; Kith's engine reads versions 2 and 3."),
            path=path,
            version=version,
        )
    tensors, entries = reader.count(MAX_TENSORS), reader.count(MAX_ENTRIES)
    metadata: dict[str, Any] = {}
    for _entry in range(entries):
        key, value = reader.text(), reader.value(reader.number("I"))
        if key.endswith(WANTED):
            metadata[key] = value
    end = _find_end(reader, tensors, _find_number(metadata, "general.alignment") or ALIGNMENT)
    if size < end:
        raise ModelFileError(
            _("%(path)s is cut short: %(count)s bytes are missing. Download it again."),
            path=path,
            count=f"{end - size:,}",
        )
    architecture = str(metadata.get("general.architecture", ""))
    return ModelFile(
        path=path,
        name=str(metadata.get("general.name") or storable(path.stem)[:MAX_CHARACTERS]),
        architecture=architecture,
        size_bytes=size,
        context_tokens=_find_number(metadata, f"{architecture}.context_length"),
        context_token_bytes=_count_context_bytes(metadata, architecture),
        has_template=bool(metadata.get("tokenizer.chat_template")),
        has_pooling=f"{architecture}.pooling_type" in metadata,
    )


def _find_end(reader: "_Reader", tensors: int, alignment: int) -> int:
    """Return where in the file the last tensor ends, as far as the tensors' sizes are known."""
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


def _find_number(metadata: Mapping[str, Any], key: str) -> int:
    """Return the integer that the file says under the key, or 0 if it says none or a negative one."""
    value = metadata.get(key)
    return max(value, 0) if isinstance(value, int) else 0


def _count_context_bytes(metadata: Mapping[str, Any], architecture: str) -> int:
    """Return the bytes of one token's keys and values in all layers, at 16 bits each; 0 if the file does not say."""

    def find(name: str) -> int:
        return _find_number(metadata, f"{architecture}.{name}")

    heads = find("attention.head_count") or 1
    width = find("attention.key_length") or find("embedding_length") // heads
    return find("block_count") * (find("attention.head_count_kv") or heads) * width * 2 * 2


class _Reader:
    """A forward reader of a file's head. It raises EOFError at its end or an impossible value, or HeadTooLargeError."""

    def __init__(self, file: BufferedReader, size: int) -> None:
        self._file, self._size = file, size
        self._strings = 0  # how many strings the lists so far held
        self.place = file.tell()

    def _advance(self, count: int) -> None:
        self.place += count
        if self.place > self._size:
            raise EOFError
        if self.place > MAX_HEAD_BYTES:
            raise HeadTooLargeError

    def take(self, count: int) -> bytes:
        self._advance(count)
        read = self._file.read(count)
        if len(read) < count:
            raise EOFError
        return read

    def skip(self, count: int) -> None:
        self._advance(count)
        self._file.seek(count, 1)

    def number(self, kind: str) -> Any:
        return struct.unpack(f"<{kind}", self.take(struct.calcsize(f"<{kind}")))[0]

    def count(self, most: int) -> int:
        count = int(self.number("Q"))
        if count > most:
            raise EOFError
        return count

    def text(self) -> str:
        """Return a string's first MAX_CHARACTERS, free of what a database cannot store."""
        length = self.number("Q")
        read = self.take(min(length, 4 * MAX_CHARACTERS))
        self.skip(length - len(read))
        return storable(read.decode("utf-8", "replace"))[:MAX_CHARACTERS]

    def value(self, kind: int) -> Any:
        """Return a value; for an array, a list with only its length, since no array's values are needed."""
        if kind == STRING:
            return self.text()
        if kind == ARRAY:
            each, length = self.number("I"), self.number("Q")
            if length > self._size or each == ARRAY:  # no model has nested arrays
                raise EOFError
            if each in SCALARS:
                self.skip(length * struct.calcsize(f"<{SCALARS[each]}"))
            elif each == STRING:
                self._strings += length
                if self._strings > MAX_STRINGS:
                    raise HeadTooLargeError
                for _element in range(length):
                    self.skip(int.from_bytes(self.take(8), "little"))
            else:
                raise EOFError
            return [length]
        if kind not in SCALARS:
            raise EOFError
        return self.number(SCALARS[kind])
