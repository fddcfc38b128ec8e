"""What people may send in place of a talk: refused in a sentence or made harmless, within bounds of memory and time."""

import sys

import pytest

from files.errors import BusyError
from pasts.child import CPU_SECONDS, MEMORY_BYTES
from pasts.past import MAX_CHARACTERS, TextPattern
from pasts.reader import READ_AT_ONCE, REFUSALS, REMARKS, PastError, read_past
from tests.fixtures.hostile import is_ended, taken_over
from tests.pasts.corpus import TALK, dumped, jsonl, sillytavern_lines
from tests.pasts.hostile import EXPECTED_TIMES, ODD, REFUSED

pytestmark = pytest.mark.usefixtures("nothing_written")


def test_there_are_enough_of_them() -> None:
    assert len(REFUSED) >= 60
    untried = REFUSALS.keys() - {code for code, _make in REFUSED.values()}
    assert {code for code in untried if not code.startswith("pattern_")} == {"unreadable", "no_such_speaker"}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, make = REFUSED[name]
    with pytest.raises(PastError) as told:
        read_past(make())
    assert told.value.code == code
    assert len(str(told.value.detail)) > 20
    assert told.value.status == (413 if code == "too_large" else 422)


@pytest.mark.parametrize("name", ODD)
def test_it_is_read_without_what_is_bad_in_it(name: str) -> None:
    remarks, make = ODD[name]
    file = read_past(make())
    assert set(file.remarks) - EXPECTED_TIMES == remarks <= REMARKS.keys()
    for past in file.pasts:
        ids = {message.id for message in past.messages}
        assert len(ids) == len(past.messages)
        for message in past.messages:
            assert message.parent is None or message.parent in ids
            assert "\0" not in message.text + message.speaker
            (message.text + message.speaker + past.title).encode()


PATTERNS = {
    "another file's": ("{name} >> {text}", "pattern_unmatched"),
    "one that would explode": ("(a+)+${name}: {text}", "pattern_unmatched"),
    "one that is none": ("{name}", "pattern_without_text"),
}


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_of_ones_own_may_be_wrong(name: str) -> None:
    template, code = PATTERNS[name]
    with pytest.raises(PastError) as told:
        read_past(b"A: x\nB: " + b"a" * 50_000, TextPattern(template=template))
    assert told.value.code == code


# -- a process that was taken over -----------------------------------------------------------------------------------


def says(*lines: object, head: object = None) -> bytes:
    head = head or {"form": "sillytavern", "remarks": []}
    return b"\n".join(map(dumped, (head, *lines)))


MESSAGE = ["1", None, "A", True, "x", None]
END = ["", "", "1"]
LIES = {
    "nothing": b"",
    "no JSON": b"hello",
    "another thing": b"[1]",
    "an unknown code": b'{"code": "<script>"}',
    "a code that is none": b'{"code": {}}',
    "another form": says(MESSAGE, END, head={"form": "exe", "remarks": []}),
    "no form": says(MESSAGE, END, head={"remarks": []}),
    "remarks that are none": says(MESSAGE, END, head={"form": "text", "remarks": 5}),
    "no message": says(),
    "no end": says(MESSAGE),
    "an end alone": says(END),
    "a leaf that is not there": says(MESSAGE, ["", "", "2"]),
    "no leaf": says(MESSAGE, ["", "", None]),
    "a parent that is not there": says(["1", "0", "A", True, "x", None], END),
    "a parent in another past": says(MESSAGE, END, ["2", "1", "A", True, "x", None], ["", "", "2"]),
    "two of one id": says(MESSAGE, MESSAGE, END),
    "an id that is none": says([1, None, "A", True, "x", None], ["", "", 1]),
    "a long text": says(["1", None, "A", True, "x" * (MAX_CHARACTERS + 1), None], END),
    "a text with a zero": says(["1", None, "A", True, "a\0", None], END),
    "a text that is none": says(["1", None, "A", True, {}, None], END),
    "half a character": b'{"form": "text", "remarks": []}\n["1", null, "A", true, "\\ud800", null]\n["", "", "1"]',
    "a long name": says(["1", None, "A" * 300, True, "x", None], END),
    "neither person nor character": says(["1", None, "A", "yes", "x", None], END),
    "a time beyond all": says(["1", None, "A", True, "x", 10**300], END),
    "a time of words": says(["1", None, "A", True, "x", "soon"], END),
    "a time at the end of time": says(["1", None, "A", True, "x", "9999-12-31T23:59:59"], END),
    "a time that is none": says(["1", None, "A", True, "x", []], END),
    "too few values": says(["1", None], END),
    "another value": says(5, END),
    "a long first line": b"x" * 10_000_000,
}


@pytest.mark.parametrize("lie", LIES)
def test_it_is_not_believed(lie: str) -> None:
    with pytest.raises(PastError) as told:
        read_past(b"{}", command=(*taken_over(LIES[lie][:100_500]),))
    assert told.value.code == "unreadable"


def test_what_is_no_lie_is_believed() -> None:
    file = read_past(b"{}", command=taken_over(says(MESSAGE, END, head={"form": "text", "remarks": ["x"]})))
    assert (file.form, len(file.pasts), file.remarks) == ("text", 1, ())


def test_one_that_hangs_is_ended() -> None:
    with pytest.raises(PastError) as told:
        read_past(b"{}", command=(sys.executable, "-c", "import time; time.sleep(60)"), wait_seconds=0.5)
    assert told.value.code == "unreadable"


def test_those_who_wait_too_long_are_told_so() -> None:
    content = jsonl(sillytavern_lines(TALK))
    with READ_AT_ONCE, pytest.raises(BusyError):
        read_past(content, wait_seconds=0.1)
    assert read_past(content).form == "sillytavern"


BEYOND = {
    "memory": "bytes(260_000_000)",
    "files": "[open('/dev/null') for _ in range(50)]",
    "writing": "import tempfile; file = tempfile.TemporaryFile(); file.truncate(300_000_000)",
}


@pytest.mark.parametrize("what", BEYOND)
def test_the_process_can_have_no_more(what: str) -> None:
    """A process that begins as the reading one does, and goes on to take too much, ends there."""
    limit = "from pasts.child import *; limit_process(MEMORY_BYTES, CPU_SECONDS, WRITTEN_BYTES)"
    assert is_ended(limit, BEYOND[what])
    assert not is_ended(limit, "bytes(1_000)")


def test_its_bounds_are_those_that_were_promised() -> None:
    assert (MEMORY_BYTES, CPU_SECONDS) == (256 * 1024**2, 10)
