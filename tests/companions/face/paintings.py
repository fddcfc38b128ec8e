"""Pictures as people send them, and things that only look like one."""

import struct
import zlib
from io import BytesIO

from PIL import Image
from PIL.ExifTags import GPS, IFD, Base

SCRIPTED = b"""<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>"""


def painted(
    form: str = "PNG", size: tuple[int, int] = (40, 30), colour: str = "tomato", **more: object
) -> bytes:
    """A picture of one colour."""
    held = BytesIO()
    Image.new("RGB", size, colour).save(held, form, **more)
    return held.getvalue()


def located() -> bytes:
    """A photograph that tells where it was taken, and with what."""
    exif = Image.Exif()
    exif[Base.Make] = "Secretcam"
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitude] = (48.0, 12.0, 30.5)
    exif.get_ifd(IFD.GPSInfo)[GPS.GPSLatitudeRef] = "N"
    return painted("JPEG", exif=exif)


def polyglot() -> bytes:
    """A whole GIF that is a script as well."""
    return painted("GIF") + b"<script>alert(document.cookie)</script>"


def vast(side: int = 30_000) -> bytes:
    """A PNG of that many pixels each way in a few bytes, as its header says."""
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pieces = [(b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in pieces
    )
