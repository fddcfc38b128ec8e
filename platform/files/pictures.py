"""Pictures that people send: drawn anew in a process of its own, so that nothing of what was sent is kept or run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import BoundedSemaphore
from typing import Any, NamedTuple

from django.utils.translation import gettext_lazy as _

from files.errors import BusyError, ContentError, FilesError, TooLargeError
from files.uploads import judged
from jobs.sandbox import SANDBOX_TIMEOUT_SECONDS, SandboxError, module_command, run_in_sandbox

MOST_BYTES = 10_000_000
MOST_PIXELS = 40_000_000
SIDE = 1024  # pixels of what is kept
FORMATS = {"image/png", "image/jpeg", "image/webp", "image/gif"}
COMMAND = module_command("files.drawing")
AT_ONCE = BoundedSemaphore(2)  # in one process: each may take as much memory as drawing.py lets it


class Drawn(NamedTuple):
    """A picture as it is kept: WebP, at most 1024 pixels wide and high, without anything but what is seen."""

    content: bytes
    width: int
    height: int


def picture(
    content: bytes, *, command: Sequence[str] = COMMAND, wait_seconds: float = SANDBOX_TIMEOUT_SECONDS
) -> Drawn:
    """The picture drawn anew, upright; an animation's first. The calling thread waits for it.

    ContentError `no_picture`; TooLargeError `too_large` (10 MB), `too_many_pixels` (40 million); BusyError.
    """
    if len(content) > MOST_BYTES:
        raise TooLargeError("too_large", _("A picture can have at most 10 MB."))
    if judged(content) not in FORMATS:
        raise _refusal("no_picture")
    with _one_of_few(wait_seconds):
        try:
            head, drawing = run_in_sandbox([*command, str(MOST_PIXELS), str(SIDE)], content, wait_seconds)
        except SandboxError:
            raise _refusal("no_picture") from None
    return _checked(head, drawing)


@contextmanager
def _one_of_few(wait_seconds: float) -> Iterator[None]:
    """BusyError where those before are not done in time: threads that wait are threads that others lack."""
    if not AT_ONCE.acquire(timeout=wait_seconds):
        raise BusyError("busy", _("Kith is drawing other pictures right now. Try again in a moment."))
    try:
        yield
    finally:
        AT_ONCE.release()


def _checked(head: dict[str, Any], drawing: bytes) -> Drawn:
    """Return the drawing if it is one."""
    if head.get("code") == "too_many_pixels":
        raise _refusal("too_many_pixels")
    try:
        drawn = Drawn(drawing, int(head["width"]), int(head["height"]))
    except (ValueError, KeyError, TypeError):
        raise _refusal("no_picture") from None
    if judged(drawing) != "image/webp" or not (0 < drawn.width <= SIDE and 0 < drawn.height <= SIDE):
        raise _refusal("no_picture")
    return drawn


def _refusal(code: str) -> FilesError:
    if code == "too_many_pixels":
        return TooLargeError(code, _("A picture can have at most 40 million pixels."))
    words = _("This is no picture that Kith can read. Send a whole PNG, JPEG, WebP or GIF.")
    return ContentError(code, words)
