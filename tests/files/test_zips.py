"""ZIP files whose ends lie: `zipfile` is never let at a directory of which nobody knows how long it is."""

import io
import struct
from zipfile import ZipFile, ZipInfo

import pytest

from files.zips import ZipError, open_zip

MOST = 10


def zip_of(entries: int, comment: bytes = b"") -> bytes:
    """Return a ZIP of empty files, the last of which has this comment, right before the ZIP's end."""
    file = io.BytesIO()
    with ZipFile(file, "w") as archive:
        for number in range(entries):
            info = ZipInfo(f"{number}")
            info.comment = comment if number == entries - 1 else b""
            archive.writestr(info, b"")
    return file.getvalue()


def end64(at: int, says: int = 1, size: int = 47, *, mark: bytes = b"PK\6\6") -> bytes:
    """Return an end of 64 bits that says that there are so many entries, and its locator, which says where it stands."""
    record = struct.pack("<4sQHHIIQQQQ", mark, 44, 45, 45, 0, 0, says, says, size, max(0, at - size))
    return record + struct.pack("<4sIQI", b"PK\6\7", 0, at, 1)


def with_end64(content: bytes, **fields: int) -> bytes:
    at = content.rindex(b"PK\5\6")
    return content[:at] + end64(at, **fields) + content[at:]


LIES = {
    "too many": ("too_many_files", zip_of(MOST + 1)),
    "too many, told in 64 bits": ("too_many_files", with_end64(zip_of(1), says=2**40)),
    "too many, behind the longest comment": (
        "too_many_files",
        with_end64(zip_of(1), says=2**40)[:-2] + b"\xff\xff" + b"x" * 65_535,
    ),
    "few, in what is no end": ("broken_zip", zip_of(MOST + 1, end64(0, mark=b"PK\0\0"))),
    "few, elsewhere than it says": ("broken_zip", zip_of(MOST + 1, end64(0))),
    "no end": ("broken_zip", zip_of(1)[:-22]),
    "half an end": ("broken_zip", zip_of(1)[:-5]),
}


@pytest.mark.parametrize("name", LIES)
def test_a_directory_is_not_read_before_it_is_known_to_be_small(name: str) -> None:
    code, content = LIES[name]
    with pytest.raises(ZipError) as refused:
        open_zip(io.BytesIO(content), MOST)
    assert refused.value.code == code


def test_an_end_of_64_bits_is_read_where_it_is_true() -> None:
    assert open_zip(io.BytesIO(with_end64(zip_of(1))), MOST).namelist() == ["0"]
