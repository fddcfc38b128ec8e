"""Files that are no picture, that are more than one, or that cost more than they look."""

import gzip
import io
import random
import struct
import zlib
from collections.abc import Callable, Mapping
from zipfile import ZipFile

from PIL import Image, ImageDraw
from PIL.PngImagePlugin import PngInfo

from files.drawing import join_webp, split_webp

Make = Callable[[], bytes]
SCRIPT = b"<script>alert(document.cookie)</script>"
PNG = b"\x89PNG\r\n\x1a\n"
XML = b'<?xml version="1.0"?>'


def drawn(form: str = "PNG", size: tuple[int, int] = (60, 40), mode: str = "RGB", **how: object) -> bytes:
    """A small picture, its left half red."""
    image = Image.new(mode, size)
    if mode in {"RGB", "RGBA"}:
        ImageDraw.Draw(image).rectangle((0, 0, max(size[0] // 2 - 1, 0), size[1]), fill="red")
    return saved(image, form, **how)


def saved(image: Image.Image, form: str, **how: object) -> bytes:
    file = io.BytesIO()
    image.save(file, form, **how)
    return file.getvalue()


def part(kind: bytes, content: bytes = b"") -> bytes:
    """A part of a PNG."""
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def png(width: int, height: int, *parts: bytes, bits: int = 1, colour: int = 0) -> bytes:
    """A PNG whose head says this, whatever comes after."""
    head = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    return PNG + part(b"IHDR", head) + b"".join(parts) + part(b"IEND")


def zeros(size: int) -> bytes:
    """So many zeros, deflated in little memory."""
    squeezed, block = zlib.compressobj(9), bytes(1_000_000)
    return b"".join(squeezed.compress(block) for _ in range(size // len(block))) + squeezed.flush()


def white(width: int, height: int) -> bytes:
    """A real PNG of that size, black and without end, in a few kilobytes."""
    return png(width, height, part(b"IDAT", zeros(height * (width // 8 + 1) + 1_000_000)))


def with_gps() -> bytes:
    exif = Image.Exif()
    exif[0x0110], exif[0x9286] = "A camera of Alice's", "Alice at home"
    exif.get_ifd(0x8825).update({1: "N", 2: (52.0, 31.0, 12.0), 3: "E", 4: (13.0, 24.0, 18.0)})
    return drawn("JPEG", exif=exif, comment=b"Alice's street 7")


def with_hidden_page(mode: str = "RGB") -> bytes:
    """A picture as Kith draws them, with a page behind what is seen of it, within the picture's own part."""
    parts = split_webp(drawn("WEBP", mode=mode))
    place = 0 if mode == "RGB" else [kind for kind, _data in parts].index(b"ALPH")
    kind, data = parts[place]
    return join_webp([*parts[:place], (kind, data + b"<script>alert(1)</script>"), *parts[place + 1 :]])


def turned() -> bytes:
    exif = Image.Exif()
    exif[0x0112] = 6
    return drawn("JPEG", exif=exif)


def endless_exif() -> bytes:
    """Its directory of metadata names itself as the next one, and has an entry of 4 GB."""
    entry = struct.pack("<HHII", 0x0112, 2, 0xFFFF_FFFF, 8)
    tiff = b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", 1) + entry + struct.pack("<I", 8)
    return drawn("JPEG", exif=b"Exif\0\0" + tiff)


def png_with_words() -> bytes:
    told = PngInfo()
    told.add_text("Location", "Alice's street 7")
    told.add_itxt("XML:com.adobe.xmp", SCRIPT.decode())
    return drawn(pnginfo=told)


def text_bomb() -> bytes:
    """A hundred parts of text that grow a thousandfold."""
    bomb = part(b"zTXt", b"Comment\0\0" + zeros(50_000_000))
    whole = drawn()
    return whole[:33] + bomb * 100 + whole[33:]


def profile_bomb() -> bytes:
    whole = drawn()
    return whole[:33] + part(b"iCCP", b"sRGB\0\0" + zeros(200_000_000)) + whole[33:]


def archive_after(picture: bytes) -> bytes:
    file = io.BytesIO()
    file.write(picture)
    with ZipFile(file, "a") as archive:
        archive.writestr("run.sh", "rm -rf ~")
    return file.getvalue()


def script_in_gif() -> bytes:
    """A GIF that is a script as well: its width reads as the beginning of a comment."""
    gif = drawn("GIF")
    return gif[:6] + b"/*" + gif[8:] + b"*/=1;alert(1);"


def moving(form: str, count: int, size: tuple[int, int] = (60, 40)) -> bytes:
    frames = [Image.new("RGB", size, (at % 256, at // 256, 9)) for at in range(count)]
    return saved(frames[0], form, save_all=True, append_images=frames[1:])


def jpeg_of(width: int, height: int) -> bytes:
    """A JPEG whose frame says that it is so large."""
    whole = bytearray(drawn("JPEG"))
    at = whole.index(b"\xff\xc0")
    whole[at + 5 : at + 9] = struct.pack(">HH", height, width)
    return bytes(whole)


def scans_without_end() -> bytes:
    """The same scan of a progressive JPEG of 36 million pixels, a hundred times."""
    whole = saved(Image.new("L", (6000, 6000)), "JPEG", progressive=True, quality=10)
    last = whole.rindex(b"\xff\xda")
    return whole[:last] + whole[last:-2] * 100 + b"\xff\xd9"


def gif_of(width: int, height: int) -> bytes:
    whole = bytearray(drawn("GIF"))
    at = whole.index(b",", 13)
    whole[6:10] = whole[at + 5 : at + 9] = struct.pack("<HH", width, height)
    return bytes(whole)


def webp_of(width: int, height: int) -> bytes:
    """A lossy WebP whose key frame says that it is so large."""
    whole = bytearray(drawn("WEBP"))
    at = whole.index(b"\x9d\x01\x2a")
    whole[at + 3 : at + 7] = struct.pack("<HH", width, height)
    return bytes(whole)


def mutated(form: str, seed: int) -> bytes:
    """A picture in which one byte in fifty is another."""
    chance, content = random.Random(seed), bytearray(drawn(form, (300, 200)))
    for _ in range(len(content) // 50):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


def billion_laughs() -> bytes:
    names = "".join(f'<!ENTITY l{at} "{f"&l{at - 1};" * 10}">' for at in range(1, 10))
    return XML + f'<!DOCTYPE svg [<!ENTITY l0 "ha">{names}]><svg><text>&l9;</text></svg>'.encode()


SVG = b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)">' + SCRIPT + b"</svg>"
ENTITY = XML + b'<!DOCTYPE svg [<!ENTITY x SYSTEM "file:///etc/passwd">]><svg><text>&x;</text></svg>'

# What none of these may become is a picture: the code that says why.
REFUSED: Mapping[str, tuple[str, Make]] = {
    "nothing": ("no_picture", lambda: b""),
    "one byte": ("no_picture", lambda: b"\x89"),
    "noise": ("no_picture", lambda: random.Random(1).randbytes(1_000_000)),
    "11 MB": ("too_large", lambda: drawn() + bytes(11_000_000)),
    "an SVG with a script": ("no_picture", lambda: SVG),
    "an SVG that reads a file": ("no_picture", lambda: ENTITY),
    "an SVG of a billion laughs": ("no_picture", billion_laughs),
    "an SVG, squeezed": ("no_picture", lambda: gzip.compress(SVG)),
    "a page": ("no_picture", lambda: b"<!doctype html>" + SCRIPT),
    "a PDF": ("no_picture", lambda: b"%PDF-1.7\n/JavaScript (app.alert(1))"),
    "a PostScript with a command": ("no_picture", lambda: b"%!PS-Adobe-3.0 EPSF-3.0\n(%pipe%id) (w) file"),
    "a program": ("no_picture", lambda: b"\x7fELF" + bytes(1000)),
    "an archive": ("no_picture", lambda: archive_after(b"")),
    "a TIFF": ("no_picture", lambda: drawn("TIFF")),
    "a BMP": ("no_picture", lambda: drawn("BMP")),
    "an icon": ("no_picture", lambda: drawn("ICO")),
    "a JPEG 2000": ("no_picture", lambda: drawn("JPEG2000")),
    "a Photoshop file": ("no_picture", lambda: b"8BPS\0\1" + bytes(100)),
    "an MP3": ("no_picture", lambda: b"ID3\4" + bytes(1000)),
    "a WAV": ("no_picture", lambda: b"RIFF\x24\0\0\0WAVEfmt " + bytes(100)),
    "a PNG's first bytes alone": ("no_picture", lambda: PNG),
    "a PNG's first bytes before a page": ("no_picture", lambda: PNG + SCRIPT),
    "half a PNG": ("no_picture", lambda: drawn(size=(600, 400))[:600]),
    "a PNG with a false sum": ("no_picture", lambda: drawn().replace(b"IHDR", b"IHDR\xff", 1)),
    "a PNG of no width": ("no_picture", lambda: png(0, 10)),
    "a PNG without pixels": ("no_picture", lambda: png(10, 10)),
    "a PNG of 30,000 × 30,000": ("too_many_pixels", lambda: white(30_000, 30_000)),
    "a PNG of two thousand million pixels": ("too_many_pixels", lambda: png(2**31 - 1, 1)),
    "a PNG that says 30,000 × 30,000": ("too_many_pixels", lambda: png(30_000, 30_000)),
    "a PNG of text that grows": ("no_picture", text_bomb),
    "a PNG of a profile that grows": ("no_picture", profile_bomb),
    "half a JPEG": ("no_picture", lambda: drawn("JPEG", (600, 400))[:700]),
    "a JPEG that says 30,000 × 30,000": ("too_many_pixels", lambda: jpeg_of(30_000, 30_000)),
    "a GIF that says 65,535 × 65,535": ("too_many_pixels", lambda: gif_of(65_535, 65_535)),
    "a GIF's first bytes before a script": ("no_picture", lambda: b"GIF89a=1;alert(1)//"),
    "a WebP that says 16,383 × 16,383": ("no_picture", lambda: webp_of(16_383, 16_383)),
    "half a WebP": ("no_picture", lambda: drawn("WEBP", (600, 400))[:200]),
}
# What these become is the picture that one sees in them, and nothing besides: its size.
HARMLESS: Mapping[str, tuple[tuple[int, int], Make]] = {
    "a JPEG with its place": ((60, 40), with_gps),
    "a JPEG held sideways": ((40, 60), turned),
    "a JPEG with endless metadata": ((60, 40), endless_exif),
    "a PNG with words": ((60, 40), png_with_words),
    "a PNG with a page after it": ((60, 40), lambda: drawn() + SCRIPT),
    "a PNG with an archive after it": ((60, 40), lambda: archive_after(drawn())),
    "a JPEG with a page within": ((60, 40), lambda: drawn("JPEG", comment=SCRIPT)),
    "a GIF of two thousand pictures": ((60, 40), lambda: moving("GIF", 2000)),
    "a PNG that moves": ((60, 40), lambda: moving("PNG", 50)),
    "a WebP that moves": ((60, 40), lambda: moving("WEBP", 50)),
    "a PNG of 36 million pixels": ((1024, 1024), lambda: white(6_000, 6_000)),
    "a PNG of 36 million pixels in 16 bits": (
        (1024, 1024),
        lambda: png(6_000, 6_000, part(b"IDAT", zeros(6_000 * 48_001 + 1_000_000)), bits=16, colour=6),
    ),
    "a line of ten million pixels": ((1024, 1), lambda: white(10_000_000, 1)),
    "a JPEG of four inks": ((60, 40), lambda: drawn("JPEG", mode="CMYK")),
    "one pixel": ((1, 1), lambda: drawn(size=(1, 1))),
}
# What these become is not foreseen: a picture within the bounds, or none.
EITHER: Mapping[str, Make] = {
    "a GIF that is a script as well": script_in_gif,
    "a JPEG of scans without end": scans_without_end,
    **{
        f"a broken {form}, {seed}": lambda form=form, seed=seed: mutated(form, seed)  # type: ignore[misc]
        for form in ("PNG", "JPEG", "WEBP", "GIF")
        for seed in range(3)
    },
}
