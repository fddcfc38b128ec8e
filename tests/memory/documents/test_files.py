"""A file is judged by what it holds: text in a known encoding is read, everything else is refused with a reason."""

import random
from collections.abc import Iterator

import pytest

from memory.documents.intake import MAX_BYTES, decode, read_file
from memory.errors import DocumentError

CHINESE = "天黑了，他们还在河边走。第二天早上下起了雨，谁也没有说话。" * 20


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030", "gbk"])
def test_a_text_is_read_in_its_encoding(encoding: str) -> None:
    assert decode(CHINESE.encode(encoding)) == CHINESE


def test_line_ends_become_plain() -> None:
    assert decode(b"a\r\nb\rc") == "a\nb\nc"


@pytest.mark.parametrize(
    ("held", "code"),
    [
        (b"", "empty_document"),
        (b"a\x00b", "not_text"),
        (b"%PDF-1.7 and so on", "not_text"),
        (b"PK\x03\x04 a book in a zip", "not_text"),
        (b"\xff\xfe\x00", "not_text"),
        ("ends within a character: é".encode()[:-1], "not_text"),
        (bytes(range(1, 256)) * 40, "not_text"),
        (random.Random(7).randbytes(5000).replace(b"\x00", b"\x01"), "not_text"),
    ],
    ids=["nothing", "NUL", "PDF", "ZIP", "half UTF-16", "half UTF-8", "every byte", "chance"],
)
def test_what_is_no_text_is_refused(held: bytes, code: str) -> None:
    with pytest.raises(DocumentError) as refused:
        decode(held)
    assert refused.value.code == code


def test_a_file_without_end_is_read_no_further_than_it_may_be() -> None:
    """A gigabyte and more, of which hardly more than the most is ever asked for."""
    asked = 0

    def endless() -> Iterator[bytes]:
        nonlocal asked
        while True:
            asked += 1
            yield b"x" * 1_000_000

    with pytest.raises(DocumentError) as refused:
        read_file(endless())
    assert refused.value.code == "document_too_large"
    assert asked == MAX_BYTES // 1_000_000 + 1
