"""What people may send in place of a card: refused in a sentence or made harmless, within bounds of memory and time."""

import sys

import pytest

from cards.assets import MEDIA
from cards.child import CPU_SECONDS, MEMORY_BYTES
from cards.reader import READ_AT_ONCE, REFUSALS, REMARKS, read_card
from cards.schema import normalise
from cards.values import CardFormatError, parse_json
from files.errors import BusyError, ContentError, FilesError, TooLargeError
from tests.cards.corpus import V2, V3, dumped, escaped
from tests.cards.hostile import ODD, REFUSED
from tests.fixtures.hostile import is_ended, taken_over

pytestmark = pytest.mark.usefixtures("nothing_written")


def test_there_are_enough_of_them() -> None:
    assert len(REFUSED) >= 60
    assert REFUSALS.keys() - {code for code, _make in REFUSED.values()} == {"unreadable"}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, make = REFUSED[name]
    with pytest.raises(FilesError) as told:
        read_card(make())
    assert told.value.code == code
    assert len(str(told.value.detail)) > 20
    assert isinstance(told.value, TooLargeError if code == "too_large" else ContentError)


@pytest.mark.parametrize("name", ODD)
def test_it_is_read_without_what_is_bad_in_it(name: str) -> None:
    remarks, make = ODD[name]
    card = read_card(make())
    assert set(card.remarks) == remarks <= REMARKS.keys()
    assert normalise(card.card)[0] == card.card
    assert all(MEDIA.match(asset.content) for asset in card.assets)
    assert "\0" not in str(card.card)


# -- a process that was taken over -----------------------------------------------------------------------------------


def says(
    card: str,
    *,
    more: str = "",
    form: str = "json",
    picture: int = 0,
    assets: str = "[]",
    size: int = 0,
    version: str = "3",
) -> bytes:
    text = f'{{"card": {card}, "remarks": [], "assets": {assets}}}'.encode()
    head = f'{{"form": "{form}", "version": "{version}", "json": {size or len(text)}, "picture": {picture}}}\n'.encode()
    return head + text + more.encode()


CARD = escaped(V3).decode()
ASSET = '[{"type": "icon", "name": "a", "ext": "png", "uri": "x", "bytes": %s}]'
LIES = {
    "nothing": b"",
    "no JSON": b"hello",
    "another thing": b"[1]",
    "an unknown code": b'{"code": "<script>"}',
    "a code that is none": b'{"code": {}}',
    "another form": says(CARD, form="exe"),
    "another version": says(CARD, version="<b>"),
    "a lorebook that is a card": says(CARD, form="lorebook"),
    "no card": says("1"),
    "NaN": says('{"name": "x", "first_mes": NaN}'),
    "half a card": says(CARD, size=100),
    "a card that is too deep": says(f'{{"name": "x", "first_mes": {"[" * 100}{"]" * 100}}}'),
    "a page for a picture": says(CARD, picture=5, more="<svg>"),
    "a sound for a picture": says(CARD, picture=4, more="OggS"),
    "a picture that is not there": says(CARD, picture=5),
    "a picture of less than nothing": says(CARD, picture=-5),
    "a page for an asset": says(CARD, assets=ASSET % 5, more="<svg>"),
    "an asset that is not there": says(CARD, assets=ASSET % 500),
    "an asset of a fraction": says(CARD, assets=ASSET % 0.5),
    "more than it says": says(CARD, more="more"),
    "a long first line": b"x" * 100_000,
}


@pytest.mark.parametrize("lie", LIES)
def test_it_is_not_believed(lie: str) -> None:
    with pytest.raises(ContentError) as told:
        read_card(dumped(V2), command=taken_over(LIES[lie]))
    assert told.value.code in {"unreadable", "no_card", "broken_json", "too_deep"}


def test_what_it_says_is_made_a_card_anew() -> None:
    told = read_card(
        dumped(V2), command=taken_over(says('{"name": 5, "first_mes": null, "mine": "a\\u0000"}'))
    )
    assert told.card["data"]["name"] == "5"
    assert (told.card["mine"], told.remarks) == ("a", ["text_cleaned"])


def test_one_that_hangs_is_ended() -> None:
    with pytest.raises(ContentError) as told:
        read_card(b"{}", command=(sys.executable, "-c", "import time; time.sleep(60)"), wait_seconds=0.5)
    assert told.value.code == "unreadable"


def test_those_who_wait_too_long_are_told_so() -> None:
    with READ_AT_ONCE, READ_AT_ONCE, pytest.raises(BusyError):
        read_card(dumped(V2), wait_seconds=0.1)
    assert read_card(dumped(V2)).version == "2"


BEYOND = {
    "memory": "bytes(260_000_000)",
    "time": "[None for _ in iter(int, 1)]",
    "files": "[open('/dev/null') for _ in range(50)]",
    "writing": "import tempfile; file = tempfile.TemporaryFile(); file.write(bytes(140_000_000)); file.flush()",
}


@pytest.mark.parametrize("what", BEYOND)
def test_the_process_can_have_no_more(what: str) -> None:
    """A process that begins as the reading one does, and goes on to take too much, ends there."""
    limit = "from cards.child import *; limit_process(MEMORY_BYTES, CPU_SECONDS, WRITTEN_BYTES)"
    assert is_ended(limit, BEYOND[what])
    assert not is_ended(limit, "bytes(1_000)")


def test_what_would_take_much_memory_is_refused_before_it_is_parsed() -> None:
    with pytest.raises(CardFormatError) as told:
        parse_json(b"[" + b"[]," * 400_000 + b"[]]")
    assert told.value.code == "too_large"


def test_its_bounds_are_those_that_were_promised() -> None:
    assert (MEMORY_BYTES, CPU_SECONDS) == (256 * 1024**2, 2)
