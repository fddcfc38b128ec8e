"""Pictures that people send: drawn anew in a process of its own, so that nothing of what was sent is kept or run."""

import subprocess
import sys
from pathlib import Path
from threading import BoundedSemaphore
from typing import NamedTuple

import orjson
from django.utils.translation import gettext_lazy as _

from files.errors import ContentError, FilesError, TooLargeError
from files.judging import judged

MOST_BYTES = 10_000_000
MOST_PIXELS = 40_000_000
SECONDS = 20.0
AT_ONCE = BoundedSemaphore(2)  # in one process: each may take what drawing.py lets it take
FORMATS = {"image/png", "image/jpeg", "image/webp", "image/gif"}
DRAWING = Path(__file__).with_name("drawing.py")


class Drawn(NamedTuple):
    """A picture as it is kept: WebP, at most 1024 pixels wide and high, without anything but what is seen."""

    content: bytes
    width: int
    height: int


def picture(content: bytes) -> Drawn:
    """The picture drawn anew, upright. ContentError (`no_picture`), TooLargeError (`too_large`, `too_many_pixels`)."""
    if len(content) > MOST_BYTES:
        raise TooLargeError("too_large", _("A picture can have at most 10 MB."))
    if judged(content) not in FORMATS:
        raise _refusal("no_picture")
    with AT_ONCE:
        told, drawn = _drawn(content)
    if "code" in told:
        raise _refusal(str(told["code"]))
    return Drawn(drawn, int(told["width"]), int(told["height"]))


def _drawn(content: bytes) -> tuple[dict[str, int | str], bytes]:
    """What the child tells, and what it drew; a child that dies or hangs has been given no picture."""
    command = [sys.executable, "-I", str(DRAWING), str(MOST_PIXELS)]
    try:
        done = subprocess.run(  # noqa: S603
            command, input=content, capture_output=True, timeout=SECONDS, check=True, env={}
        )
    except subprocess.SubprocessError as error:
        raise _refusal("no_picture") from error
    line, _newline, drawn = done.stdout.partition(b"\n")
    told: dict[str, int | str] = orjson.loads(line)
    return told, drawn


def _refusal(code: str) -> FilesError:
    if code == "too_many_pixels":
        return TooLargeError(code, _("A picture can have at most 40 million pixels."))
    return ContentError(
        "no_picture", _("This is no picture that Kith can read. Send a whole PNG, JPEG, WebP or GIF.")
    )
