"""Pictures that people upload: re-encoded in a process of their own, so that no original byte is kept or run."""

import re
from collections.abc import Sequence
from threading import BoundedSemaphore
from typing import NamedTuple

from django.utils.translation import gettext_lazy as _

from files.errors import BusyError, ContentError, TooLargeError
from jobs.sandbox import SANDBOX_TIMEOUT_SECONDS, SandboxError, module_command, run_in_sandbox

MAX_BYTES = 10_000_000
MAX_PIXELS = 40_000_000
SIDE = 1024  # pixels, of a stored picture
# Recognised by the first bytes alone: names and headers are not trusted. A WebP has its size after RIFF.
PICTURE = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|GIF8[79]a|RIFF.{4}WEBP", re.DOTALL)
WEBP = re.compile(rb"RIFF.{4}WEBP", re.DOTALL)
COMMAND = module_command("files.drawing")
DRAWN_AT_ONCE = BoundedSemaphore(2)  # per process of Kith: each may take as much memory as drawing.py allows
NO_PICTURE = _("This is not a picture that Kith can read. Send a complete PNG, JPEG, WebP or GIF.")


class Drawn(NamedTuple):
    """A picture as it is stored: a WebP of at most 1024 pixels in width and height, without metadata."""

    content: bytes
    width: int
    height: int


def picture(
    content: bytes,
    *,
    keeps_drawings: bool = False,
    command: Sequence[str] = COMMAND,
    wait_seconds: float = SANDBOX_TIMEOUT_SECONDS,
) -> Drawn:
    """Return the picture re-encoded and upright; of an animation the first frame. Blocks the calling thread.

    With `keeps_drawings`, a picture that Kith encoded before is returned unchanged, since encoding loses quality.

    Raise ContentError `no_picture`, TooLargeError `too_large` (10 MB) or `too_many_pixels` (40 million), or BusyError.
    """
    if len(content) > MAX_BYTES:
        raise TooLargeError("too_large", _("A picture can have at most 10 MB."))
    if not PICTURE.match(content):
        raise ContentError("no_picture", NO_PICTURE)
    # Waiting is bounded, since a waiting thread is not available to other requests.
    if not DRAWN_AT_ONCE.acquire(timeout=wait_seconds):
        raise BusyError("busy", _("Kith is processing other pictures right now. Try again in a moment."))
    try:
        asked = [*command, str(MAX_PIXELS), str(SIDE), *(["keep"] if keeps_drawings else [])]
        head, drawing = run_in_sandbox(asked, content, wait_seconds)
    except SandboxError:
        raise ContentError("no_picture", NO_PICTURE) from None
    finally:
        DRAWN_AT_ONCE.release()
    if head.get("code") == "too_many_pixels":
        raise TooLargeError("too_many_pixels", _("A picture can have at most 40 million pixels."))
    try:
        drawn = Drawn(drawing, int(head["width"]), int(head["height"]))
    except (ValueError, KeyError, TypeError):
        raise ContentError("no_picture", NO_PICTURE) from None
    if not WEBP.match(drawing) or not (0 < drawn.width <= SIDE and 0 < drawn.height <= SIDE):
        raise ContentError("no_picture", NO_PICTURE)
    return drawn
