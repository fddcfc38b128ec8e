"""Pictures that people send: drawn anew in a process of its own, so that nothing of what was sent is kept or run."""

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore
from typing import NamedTuple

from django.utils.translation import gettext_lazy as _

from files.errors import BusyError, ContentError, FilesError, TooLargeError
from files.judging import judged

MOST_BYTES = 10_000_000
MOST_PIXELS = 40_000_000
SIDE = 1024  # pixels of what is kept
FORMATS = {"image/png", "image/jpeg", "image/webp", "image/gif"}
COMMAND = (sys.executable, "-I", str(Path(__file__).with_name("drawing.py")))
WAIT_SECONDS = 30.0
MOST_HEAD_BYTES = 200
AT_ONCE = BoundedSemaphore(2)  # in one process: each may take as much memory as drawing.py lets it


class Drawn(NamedTuple):
    """A picture as it is kept: WebP, at most 1024 pixels wide and high, without anything but what is seen."""

    content: bytes
    width: int
    height: int


def picture(content: bytes, *, command: Sequence[str] = COMMAND, wait_seconds: float = WAIT_SECONDS) -> Drawn:
    """The picture drawn anew, upright; an animation's first. The calling thread waits for it.

    ContentError `no_picture`; TooLargeError `too_large` (10 MB), `too_many_pixels` (40 million); BusyError.
    """
    if len(content) > MOST_BYTES:
        raise TooLargeError("too_large", _("A picture can have at most 10 MB."))
    if judged(content) not in FORMATS:
        raise _refusal("no_picture")
    with (
        _one_of_few(wait_seconds),
        tempfile.TemporaryFile() as answer,
    ):  # the child can write so much and no more
        try:
            subprocess.run(  # noqa: S603
                [*command, str(MOST_PIXELS), str(SIDE)],
                input=content,
                stdout=answer,
                stderr=subprocess.DEVNULL,
                env={},  # nothing of this process's secrets
                timeout=wait_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise _refusal("no_picture") from None
        answer.seek(0)
        return _told(answer.readline(MOST_HEAD_BYTES), answer.read())


@contextmanager
def _one_of_few(wait_seconds: float) -> Iterator[None]:
    """BusyError where those before are not done in time: threads that wait are threads that others lack."""
    if not AT_ONCE.acquire(timeout=wait_seconds):
        raise BusyError("busy", _("Kith is drawing other pictures right now. Try again in a moment."))
    try:
        yield
    finally:
        AT_ONCE.release()


def _told(head: bytes, drawn: bytes) -> Drawn:
    """What the child wrote, which is not believed either: whoever took it over would write it."""
    try:
        told = json.loads(head)
        if told.get("code") == "too_many_pixels":
            raise _refusal("too_many_pixels")
        made = Drawn(drawn, int(told["width"]), int(told["height"]))
        if judged(drawn) != "image/webp" or not (0 < made.width <= SIDE and 0 < made.height <= SIDE):
            raise ValueError("no drawing")
    except (ValueError, KeyError, TypeError, AttributeError):
        raise _refusal("no_picture") from None
    return made


def _refusal(code: str) -> FilesError:
    if code == "too_many_pixels":
        return TooLargeError(code, _("A picture can have at most 40 million pixels."))
    words = _("This is no picture that Kith can read. Send a whole PNG, JPEG, WebP or GIF.")
    return ContentError(code, words)
