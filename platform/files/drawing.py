"""A program of its own, with nothing of Kith's: draws the picture that comes at its input anew, under limits.

Its output is a line of JSON, {"width", "height"} or {"code"}, and after it a WebP. A picture that is made to harm its
reader can harm this process alone.
"""

import contextlib
import io
import json
import resource
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL import Image

MEMORY_BYTES = 768 * 1024**2  # 40 million pixels of four bytes are 160 MB, and there are two of them at times
CPU_SECONDS = 10
WRITTEN_BYTES = 8 * 1024**2
OPEN_FILES = 16
ORIENTATION = 0x0112  # of EXIF
FORMATS = ["PNG", "JPEG", "WEBP", "GIF"]


def limit() -> None:
    """Let this process have no more than it needs, to its end; before Pillow is loaded."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, WRITTEN_BYTES),
        (resource.RLIMIT_NOFILE, OPEN_FILES),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):  # macOS knows no limit of address space
            resource.setrlimit(what, (most, most))


def draw(content: bytes, most_pixels: int, side: int) -> tuple[dict[str, object], bytes]:
    """What to tell, and the drawing."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # judged here, and exactly
    with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
        if opened.width * opened.height > most_pixels:
            return {"code": "too_many_pixels"}, b""
        turn = turn_of(opened)
        opened.draft("RGB", (side, side))  # a JPEG need not be read in its full size
        opened.load()
        seen = opened.convert("RGBA" if opened.has_transparency_data else "RGB")
    seen.thumbnail((side, side), reducing_gap=2.0)
    upright = seen.transpose(turn) if turn is not None else seen
    clean = Image.new(upright.mode, upright.size)  # a copy of the pixels has no metadata
    clean.paste(upright)
    written = io.BytesIO()
    clean.save(written, "WEBP", quality=85, method=4)
    return {"width": clean.width, "height": clean.height}, written.getvalue()


def turn_of(opened: "Image.Image") -> "Image.Transpose | None":
    """How the camera says that it was held; nothing where it says it in a way that cannot be read."""
    from PIL import Image

    turn = Image.Transpose
    turns = {
        2: turn.FLIP_LEFT_RIGHT,
        3: turn.ROTATE_180,
        4: turn.FLIP_TOP_BOTTOM,
        5: turn.TRANSPOSE,
        6: turn.ROTATE_270,
        7: turn.TRANSVERSE,
        8: turn.ROTATE_90,
    }
    with contextlib.suppress(OSError, ValueError, SyntaxError, TypeError, KeyError, struct.error):
        return turns.get(int(opened.getexif().get(ORIENTATION, 1)))
    return None


def main() -> None:
    limit()
    content = sys.stdin.buffer.read()
    try:
        told, drawn = draw(content, int(sys.argv[1]), int(sys.argv[2]))
    except Exception:  # noqa: BLE001 -- the outermost of this program: whatever is wrong, it is no picture
        told, drawn = {"code": "no_picture"}, b""
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + drawn)


if __name__ == "__main__":
    main()
