"""python -m files.drawing PIXELS SIDE: draw the picture that comes at the input anew, in the sandbox.

The answer is {"width", "height"} and a WebP, or {"code"}.
"""

import contextlib
import io
import struct
import sys
from typing import TYPE_CHECKING

from jobs.sandbox import answer, limit_process

if TYPE_CHECKING:
    from PIL import Image

MEMORY_BYTES = 768 * 1024**2  # 40 million pixels of four bytes are 160 MB, and there are two of them at times
CPU_SECONDS = 10
WRITTEN_BYTES = 8 * 1024**2
ORIENTATION = 0x0112  # of EXIF
FORMATS = ["PNG", "JPEG", "WEBP", "GIF"]


def limit() -> None:
    """Limit this process, before Pillow is loaded."""
    limit_process(MEMORY_BYTES, CPU_SECONDS, WRITTEN_BYTES)


def draw(content: bytes, most_pixels: int, side: int) -> tuple[dict[str, object], bytes]:
    """Return what to tell, and the drawing."""
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
    """Return how the camera says that it was held; nothing where it says it in a way that cannot be read."""
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
        head, drawing = draw(content, int(sys.argv[1]), int(sys.argv[2]))
    except Exception:  # noqa: BLE001 -- the outermost of this program: whatever is wrong, it is no picture
        head, drawing = {"code": "no_picture"}, b""
    answer(head, drawing)


if __name__ == "__main__":
    main()
