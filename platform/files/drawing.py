"""python -m files.drawing PIXELS SIDE [keep]: re-encode the picture on standard input, inside the sandbox.

The answer is {"width", "height"} and a WebP, or {"code"}. With `keep`, a WebP that this module wrote itself is returned
unchanged, since re-encoding it would lose quality.
"""

import contextlib
import io
import struct
import sys
from typing import TYPE_CHECKING

from jobs.confinement import answer, limit_process

if TYPE_CHECKING:
    from PIL import Image

MEMORY_BYTES = 768 * 1024**2  # 40 million pixels of four bytes are 160 MB, of which there are two at times
CPU_SECONDS = 10
WRITTEN_BYTES = 8 * 1024**2
ORIENTATION = 0x0112  # of EXIF
FORMATS = ["PNG", "JPEG", "WEBP", "GIF"]
# The chunks of a WebP that are visible, without metadata; and those that a decoder reads to their last bytes.
SEEN = {b"VP8 ", b"VP8L", b"VP8X", b"ALPH"}
DECODED = SEEN - {b"VP8X"}
# A chunk cannot be decoded without its last bytes, unless these are data hidden after the picture.
END_BYTES = 8


def draw(
    content: bytes, most_pixels: int, side: int, *, keeps_drawings: bool = False
) -> tuple[dict[str, object], bytes]:
    """Return the answer's header and the WebP, which is `content` itself if it is one of ours and `keeps_drawings`."""
    from PIL import Image

    Image.MAX_IMAGE_PIXELS = None  # the exact limit is checked below
    with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
        if opened.width * opened.height > most_pixels:
            return {"code": "too_many_pixels"}, b""
        if keeps_drawings and max(opened.size) <= side and is_drawing(content):
            opened.load()
            return {"width": opened.width, "height": opened.height}, content
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


def is_drawing(content: bytes) -> bool:
    """Return whether `content` is as this module writes it: a WebP of one picture without data hidden in its chunks."""
    parts = split_webp(content)
    if not parts or not {kind for kind, _data in parts} <= SEEN:
        return False
    shortened = (
        [*parts[:place], (kind, data[:-END_BYTES]), *parts[place + 1 :]]
        for place, (kind, data) in enumerate(parts)
        if kind in DECODED
    )
    return not any(can_be_decoded(join_webp(each)) for each in shortened)


def split_webp(content: bytes) -> list[tuple[bytes, bytes]]:
    """Return the chunks (kind, data) of a WebP; none if it is not a complete one, or data follows it."""
    if len(content) < 20 or content[:4] != b"RIFF" or content[8:12] != b"WEBP":
        return []
    if struct.unpack_from("<I", content, 4)[0] + 8 != len(content):
        return []
    parts, at = [], 12
    while at + 8 <= len(content):
        size = struct.unpack_from("<I", content, at + 4)[0]
        parts.append((content[at : at + 4], content[at + 8 : at + 8 + size]))
        at += 8 + size + size % 2
    return parts if at == len(content) else []


def join_webp(parts: list[tuple[bytes, bytes]]) -> bytes:
    """Return the WebP with these chunks."""
    body = b"".join(
        kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for kind, data in parts
    )
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def can_be_decoded(content: bytes) -> bool:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(content), formats=["WEBP"]) as opened:
            opened.load()
    except (OSError, ValueError, SyntaxError):
        return False
    return True


def turn_of(opened: "Image.Image") -> "Image.Transpose | None":
    """Return the transposition that makes the picture upright according to EXIF, or None if it tells none."""
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
    limit_process(MEMORY_BYTES, CPU_SECONDS, WRITTEN_BYTES)  # before Pillow is loaded
    content = sys.stdin.buffer.read()
    try:
        keeps_drawings = sys.argv[3:] == ["keep"]
        head, drawing = draw(content, int(sys.argv[1]), int(sys.argv[2]), keeps_drawings=keeps_drawings)
    except Exception:  # noqa: BLE001 -- the program's outermost level: whatever fails, it is not a picture
        head, drawing = {"code": "no_picture"}, b""
    answer(head, drawing)


if __name__ == "__main__":
    main()
