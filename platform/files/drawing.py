"""Run as a program of its own, with nothing of Kith's: reads a picture from its input and draws it anew.

Its output is a line of JSON, {"width", "height"} or {"code"}, and after it the WebP. A picture that is made to harm its
reader can harm this process alone, which may take so much memory and time and write no file.
"""

import io
import json
import resource
import sys

MEMORY_BYTES = 1_000_000_000
CPU_SECONDS = 15
SIDE = 1024
FORMATS = ["PNG", "JPEG", "WEBP", "GIF"]


def bound() -> None:
    """Keeps the bounds from here on; before Pillow is loaded."""
    for what, most in (
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_CPU, CPU_SECONDS),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(what, (most, most))


def draw(content: bytes, most_pixels: int) -> tuple[dict[str, object], bytes]:
    """What to tell, and the drawing."""
    from PIL import Image, ImageOps

    Image.MAX_IMAGE_PIXELS = None  # judged here, and exactly
    with Image.open(io.BytesIO(content), formats=FORMATS) as opened:
        if opened.width * opened.height > most_pixels:
            return {"code": "too_many_pixels"}, b""
        opened.draft("RGB", (SIDE, SIDE))  # a JPEG need not be read in its full size
        opened.load()
        upright = ImageOps.exif_transpose(opened)
    upright.thumbnail((SIDE, SIDE), reducing_gap=2.0)
    seen = upright.convert("RGBA" if upright.has_transparency_data else "RGB")
    clean = Image.new(seen.mode, seen.size)  # a copy of the pixels has no metadata
    clean.paste(seen)
    written = io.BytesIO()
    clean.save(written, "WEBP", quality=85, method=4)
    return {"width": clean.width, "height": clean.height}, written.getvalue()


def main() -> None:
    bound()
    content = sys.stdin.buffer.read()
    try:
        told, drawn = draw(content, int(sys.argv[1]))
    except Exception:  # noqa: BLE001 -- of this program's whole run: whatever is wrong, it is no picture
        told, drawn = {"code": "no_picture"}, b""
    sys.stdout.buffer.write(json.dumps(told).encode() + b"\n" + drawn)


if __name__ == "__main__":
    main()
