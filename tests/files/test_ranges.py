import pytest

from files.responses import Span, UnsatisfiableError, find_span

SIZE, ETAG = 1000, '"etag"'


@pytest.mark.parametrize(
    ("sent", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=0-", 0, SIZE),
        ("bytes=100-199", 100, 200),
        ("bytes= 100-199 ", 100, 200),
        ("bytes=999-", 999, SIZE),
        ("bytes=900-999999999", 900, SIZE),
        ("bytes=-1", 999, SIZE),
        ("bytes=-1000", 0, SIZE),
        ("bytes=-999999999999999999", 0, SIZE),
    ],
)
def test_a_part_is_read_as_it_is_written(sent: str, start: int, end: int) -> None:
    assert find_span({"Range": sent}, SIZE, ETAG) == Span(start, end)


@pytest.mark.parametrize("sent", ["bytes=1000-", "bytes=1000-1001", "bytes=-0", "bytes=999999999999999999-"])
def test_a_part_beyond_the_end_cannot_be_given(sent: str) -> None:
    with pytest.raises(UnsatisfiableError):
        find_span({"Range": sent}, SIZE, ETAG)


WHOLE = [
    "",
    "bytes=",
    "bytes=-",
    "bytes= -",
    "bytes=5-2",
    "bytes=a-b",
    "lines=1-2",
    "bytes=0-1,5-6",
    "bytes=1",
    "0-1",
]
WHOLE += [f"bytes={'9' * 5000}-", "bytes=١-٢", "bytes=--5", "bytes=0-1\n"]


@pytest.mark.parametrize("sent", WHOLE)
def test_what_is_no_part_is_the_whole(sent: str) -> None:
    assert find_span({"Range": sent}, SIZE, ETAG) is None


@pytest.mark.parametrize(
    ("if_range", "is_part"),
    [(ETAG, True), ('"other"', False), (f"W/{ETAG}", False), ("Sat, 21 Nov 2026 20:00:00 GMT", False)],
)
def test_a_part_is_given_of_the_same_content_alone(if_range: str, is_part: bool) -> None:
    span = find_span({"Range": "bytes=0-9", "If-Range": if_range}, SIZE, ETAG)
    assert (span is not None) == is_part
