"""What people may send in place of a picture: refused or made harmless, within bounds of memory and time."""

import io
import subprocess
import sys
from collections.abc import Sequence

import pytest
from PIL import Image

from files.errors import BusyError, FilesError
from files.pictures import DRAWN_AT_ONCE, SIDE, Drawn, picture
from jobs.sandbox import SOURCE_ROOT
from tests.files.hostile import EITHER, HARMLESS, REFUSED, drawn, saved, with_gps, with_hidden_page

LEFT = (b"script", b"alert", b"Alice", b"Exif", b"EXIF", b"XMP ", b"ICCP", b"PK\3\4", b"http")


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused(name: str) -> None:
    code, make = REFUSED[name]
    with pytest.raises(FilesError) as told:
        picture(make())
    assert told.value.code == code
    assert str(told.value.detail)


@pytest.mark.parametrize("name", HARMLESS)
def test_what_is_seen_is_kept_and_nothing_besides(name: str) -> None:
    size, make = HARMLESS[name]
    made = picture(make())
    assert (made.width, made.height) == size
    with Image.open(io.BytesIO(made.content)) as image:
        assert (image.format, image.size, getattr(image, "n_frames", 1)) == ("WEBP", size, 1)
        assert set(image.info) <= {"background", "loop", "duration", "timestamp"}
    assert not [word for word in LEFT if word in made.content]


@pytest.mark.parametrize("name", EITHER)
def test_it_stays_within_the_bounds(name: str) -> None:
    made = outcome(EITHER[name]())
    if isinstance(made, str):
        assert made == "no_picture"
    else:
        assert max(made.width, made.height) <= SIDE
        assert not [word for word in LEFT if word in made.content]


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_what_was_drawn_so_before_stays_as_it_is(mode: str) -> None:
    noise = Image.effect_noise((1500, 900), 60).convert(mode)
    if mode == "RGBA":
        noise.putalpha(Image.linear_gradient("L").resize(noise.size))
    first = picture(saved(noise, "PNG"))
    assert picture(first.content, keeps_drawings=True) == first


@pytest.mark.parametrize(
    "content",
    [
        with_hidden_page(),
        with_hidden_page("RGBA"),
        drawn("WEBP", exif=b"Exif\0\0 of Alice"),
        drawn("WEBP") + b"<script>",
        drawn("WEBP", size=(1200, 30)),
        with_gps(),
    ],
    ids=["page within", "page within what is transparent", "metadata", "page behind", "too large", "places"],
)
def test_what_is_no_drawing_of_kiths_is_drawn_anew(content: bytes) -> None:
    made = picture(content, keeps_drawings=True)
    assert max(made.width, made.height) <= SIDE
    assert not [word for word in LEFT if word in made.content]
    assert made.content != content


def outcome(content: bytes) -> Drawn | str:
    """What became of it, or the code that says why nothing did."""
    try:
        return picture(content)
    except FilesError as error:
        return error.code


def test_the_examples_hold_what_is_to_be_taken_out() -> None:
    """Otherwise the tests above would find nothing in anything."""
    assert b"Alice" in with_gps()
    with Image.open(io.BytesIO(with_gps())) as image:
        assert image.getexif().get_ifd(0x8825)[2] == (52.0, 31.0, 12.0)


def test_the_picture_is_still_the_picture() -> None:
    with Image.open(io.BytesIO(picture(drawn(size=(2000, 1000))).content)) as image:
        assert image.size == (1024, 512)
        red, black = image.convert("RGB").getpixel((200, 256)), image.convert("RGB").getpixel((800, 256))
    assert red[0] > 230 > 30 > max(red[1:])  # type: ignore[index,operator,misc]
    assert max(black) < 30  # type: ignore[arg-type,type-var,operator]


def test_what_is_held_sideways_is_kept_upright() -> None:
    """Red was on its left; turned by a quarter it is above."""
    _size, make = HARMLESS["a JPEG held sideways"]
    with Image.open(io.BytesIO(picture(make()).content)) as image:
        above, below = (image.convert("RGB").getpixel((20, row)) for row in (5, 55))
    assert above[0] > 200 > 50 > below[0]  # type: ignore[index,operator,misc]


# -- a process that was taken over -----------------------------------------------------------------------------------


def taken_over(code: str) -> Sequence[str]:
    return sys.executable, "-c", code


WEBP = "b'RIFF\\x00\\x00\\x00\\x00WEBP'"
LIES = {
    "nothing": "",
    "no JSON": "print('hello')",
    "another thing": "print('[1]')",
    "an unknown code": """print('{"code": "<script>"}')""",
    "a page for a picture": """print('{"width": 9, "height": 9}'); print('<script>alert(1)</script>')""",
    "a size that is none": f"""import sys; sys.stdout.buffer.write(b'{{"width": 0, "height": 9}}\\n' + {WEBP})""",
    "a size beyond": f"""import sys; sys.stdout.buffer.write(b'{{"width": 9, "height": 9999}}\\n' + {WEBP})""",
    "a long first line": "print('x' * 10_000_000)",
    "a death": "import os; os.kill(os.getpid(), 9)",
}


@pytest.mark.parametrize("lie", LIES)
def test_it_is_not_believed(lie: str) -> None:
    with pytest.raises(FilesError) as told:
        picture(drawn(), command=taken_over(LIES[lie]))
    assert told.value.code == "no_picture"


def test_one_that_hangs_is_ended() -> None:
    with pytest.raises(FilesError) as told:
        picture(drawn(), command=taken_over("import time; time.sleep(60)"), wait_seconds=0.5)
    assert told.value.code == "no_picture"


def test_those_who_wait_too_long_are_told_so() -> None:
    """Two are drawn at once; a third that comes waits so long and no longer, and the next one is drawn."""
    with DRAWN_AT_ONCE, DRAWN_AT_ONCE, pytest.raises(BusyError):
        picture(drawn(), wait_seconds=0.1)
    assert picture(drawn()).width == 60


LIMITED = f"""import sys; sys.path.insert(0, {str(SOURCE_ROOT)!r}); from files.drawing import *
limit_process(MEMORY_BYTES, CPU_SECONDS, WRITTEN_BYTES)
"""
BEYOND = {
    "memory": "bytes(900_000_000)",
    "files": "[open('/dev/null') for _ in range(50)]",
    "writing": "import tempfile; file = tempfile.TemporaryFile(); file.write(bytes(9_000_000)); file.flush()",
}


@pytest.mark.parametrize("what", BEYOND)
def test_the_limits_hold(what: str) -> None:
    """A process that begins as the drawing one does, and goes on to take too much, ends there."""
    code = LIMITED + BEYOND[what]
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode != 0
    inside = LIMITED + "bytes(1_000)"
    assert subprocess.run([sys.executable, "-c", inside], capture_output=True, check=False).returncode == 0


def test_no_secret_goes_into_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "do not tell")
    tells = "import os, sys; sys.exit(0) if 'SECRET_KEY' in os.environ else print('{\"code\": \"too_many_pixels\"}')"
    with pytest.raises(FilesError) as told:
        picture(drawn(), command=taken_over(tells))
    assert told.value.code == "too_many_pixels"
