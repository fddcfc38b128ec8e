"""Model files in GGUF: what their head says, and what is no such file, or only a part of one."""

import os
import struct
import tracemalloc
from pathlib import Path

import pytest

from providers.engine.gguf import MAX_HEAD_BYTES, MAX_STRINGS, ModelFileError, read_model_file
from tests.fixtures.gguf import SAID, write_gguf


def test_a_head_tells_what_the_model_is(tmp_path: Path) -> None:
    model = read_model_file(write_gguf(tmp_path / "tiny.gguf"))
    assert (model.name, model.architecture, model.context_tokens) == ("Tiny", "llama", 4096)
    assert model.has_template
    assert model.size_bytes == (tmp_path / "tiny.gguf").stat().st_size
    # Keys and values, two bytes each, of two heads of sixteen numbers in two layers.
    assert model.context_token_bytes == 2 * 2 * 2 * 16 * 2
    assert model.estimate_bytes(4096) - model.estimate_bytes(0) == 4096 * model.context_token_bytes


def test_what_a_head_does_not_say_is_not_known(tmp_path: Path) -> None:
    model = read_model_file(write_gguf(tmp_path / "bare.gguf", {"general.architecture": "bert"}))
    assert (model.name, model.context_tokens, model.context_token_bytes) == ("bare", 0, 0)
    assert not model.has_template


@pytest.mark.parametrize("key", ["general.alignment", "llama.context_length", "llama.block_count"])
def test_a_word_where_a_number_belongs_is_none(tmp_path: Path, key: str) -> None:
    model = read_model_file(write_gguf(tmp_path / "odd.gguf", {**SAID, key: "many"}))
    assert model.architecture == "llama"
    assert (model.context_tokens == 0) == (key == "llama.context_length")
    assert (model.context_token_bytes == 0) == (key == "llama.block_count")


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = write_gguf(tmp_path / "whole.gguf").read_bytes()
    for size in range(4, len(whole), 7):
        cut = tmp_path / "cut.gguf"
        cut.write_bytes(whole[:size])
        with pytest.raises(ModelFileError, match=r"cut short|damaged"):
            read_model_file(cut)
    with pytest.raises(ModelFileError, match="1 bytes are missing"):
        read_model_file(write_gguf(tmp_path / "one.gguf", is_cut=True))


def test_what_is_no_model_file_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "page.gguf"
    for content in (b"", b"<html>not found</html>", b"PK\x03\x04"):
        other.write_bytes(content)
        with pytest.raises(ModelFileError, match="not a GGUF model file"):
            read_model_file(other)
    with pytest.raises(ModelFileError, match="version 9"):
        read_model_file(write_gguf(tmp_path / "nine.gguf", version=9))
    with pytest.raises(ModelFileError, match="cannot be read"):
        read_model_file(tmp_path / "none.gguf")
    with pytest.raises(ModelFileError, match="is a folder"):
        read_model_file(tmp_path)
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(ModelFileError, match="is not a file"):
        read_model_file(tmp_path / "pipe.gguf")


@pytest.mark.parametrize("length", [1 << 40, (1 << 64) - 1])
def test_a_head_that_lies_about_lengths_takes_no_memory(tmp_path: Path, length: int) -> None:
    lying = tmp_path / "lying.gguf"
    for head in (
        struct.pack("<IQQ", 3, length, 0),  # tensors
        struct.pack("<IQQ", 3, 1, length),  # entries
        struct.pack("<IQQQ", 3, 1, 1, length),  # characters of a key
        struct.pack("<IQQQ", 3, 0, 1, 1) + b"k" + struct.pack("<IIQ", 9, 4, length),  # an array
    ):
        lying.write_bytes(b"GGUF" + head + bytes(64))
        with pytest.raises(ModelFileError, match="damaged"):
            read_model_file(lying)


def test_arrays_within_arrays_are_refused(tmp_path: Path) -> None:
    nested = tmp_path / "nested.gguf"
    nested.write_bytes(
        b"GGUF"
        + struct.pack("<IQQQ", 3, 0, 1, 1)
        + b"k"
        + struct.pack("<I", 9)
        + struct.pack("<IQ", 9, 1) * 5000
    )
    with pytest.raises(ModelFileError, match="damaged"):
        read_model_file(nested)


def test_a_model_in_several_files_is_read_by_the_first(tmp_path: Path) -> None:
    first, second, third = (tmp_path / f"tiny-{number:05}-of-00003.gguf" for number in (1, 2, 3))
    write_gguf(first)
    write_gguf(second, {"split.no": 1}, weights=2048)
    with pytest.raises(ModelFileError, match=r"tiny-00003-of-00003\.gguf is missing: it is one of 3 files"):
        read_model_file(first)
    with pytest.raises(ModelFileError, match=r"is one of 3 files .* Choose the first one: tiny-00001-of"):
        read_model_file(second)
    write_gguf(third, {"split.no": 2}, is_cut=True)
    with pytest.raises(ModelFileError, match=r"tiny-00003-of-00003\.gguf is cut short"):
        read_model_file(first)
    write_gguf(third, {"split.no": 2})
    model = read_model_file(first)
    assert (model.name, model.path) == ("Tiny", first)
    assert model.size_bytes == sum(part.stat().st_size for part in (first, second, third))


@pytest.mark.parametrize("numbers", ["00000-of-00003", "00004-of-00003", "00001-of-99999"])
def test_a_name_of_an_impossible_part_is_any_name(tmp_path: Path, numbers: str) -> None:
    assert read_model_file(write_gguf(tmp_path / f"tiny-{numbers}.gguf")).name == "Tiny"


BYTES, STRING, ARRAY = 0, 8, 9  # as types of values


def write_head(path: Path, *entries: bytes | int) -> Path:
    """Write a head without tensors from entries, each a key, a type and a value; a number is so many NULs, a hole."""
    keys = sum(isinstance(entry, bytes) for entry in entries)
    with path.open("wb") as file:
        file.write(b"GGUF" + struct.pack("<IQQ", 3, 0, keys))
        for entry in entries:
            if isinstance(entry, bytes):
                file.write(entry)
            else:
                file.seek(entry, os.SEEK_CUR)
        file.truncate(file.tell())
    return path


def begin_entry(key: str, *numbers: int) -> bytes:
    """Return a key with the type of its value, the length, and before it, of an array, the type of its elements."""
    text = key.encode()
    form = {2: "<IQ", 3: "<IIQ"}[len(numbers)]
    return struct.pack("<Q", len(text)) + text + struct.pack(form, *numbers)


@pytest.mark.parametrize("key", ["tokenizer.chat_template", "general.name", "x"])
def test_long_strings_are_not_read_into_memory(tmp_path: Path, key: str) -> None:
    each = MAX_HEAD_BYTES // 4
    path = write_head(tmp_path / "long.gguf", *[begin_entry(key, STRING, each), each] * 3)
    tracemalloc.start()
    try:
        read_model_file(path)
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "entries",
    [
        (begin_entry("x", STRING, MAX_HEAD_BYTES), MAX_HEAD_BYTES),
        (begin_entry("x", ARRAY, BYTES, MAX_HEAD_BYTES), MAX_HEAD_BYTES),
        (begin_entry("x", ARRAY, STRING, MAX_STRINGS + 1), 8 * MAX_STRINGS + 8),
        (begin_entry("x", ARRAY, STRING, MAX_STRINGS // 2 + 1), 8 * (MAX_STRINGS // 2 + 1)) * 2,
    ],
    ids=["a string", "numbers", "words", "words in two lists"],
)
def test_a_head_larger_than_any_models_is_refused(tmp_path: Path, entries: tuple[bytes | int, ...]) -> None:
    with pytest.raises(ModelFileError, match="64 MB, or more than 1,000,000 words"):
        read_model_file(write_head(tmp_path / "vast.gguf", *entries))


@pytest.mark.parametrize(
    ("said", "name"),
    [("Ti\0ny", "Tiny"), ("\0", "of its file"), ("🙂" * 300, "🙂" * 200), ("x" * 100_000, "x" * 200)],
    ids=["NUL", "NUL alone", "emoji", "long"],
)
def test_a_name_is_one_that_can_be_kept_and_shown(tmp_path: Path, said: str, name: str) -> None:
    path = write_gguf(tmp_path / "of its file.gguf", {**SAID, "general.name": said})
    assert read_model_file(path).name == name
