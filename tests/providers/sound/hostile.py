"""Files that are no sound, or pretend to more than they hold."""

import gzip
import random
import struct
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from io import BytesIO

import av
import numpy as np
from av.video.frame import VideoFrame

from providers.sound import Sound, encode_mp3, encode_wav
from tests.fixtures.sound import hum
from tests.providers.sound.containers import written

SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
PLAYLIST = b"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n%s\n#EXT-X-ENDLIST\n"
LONG_SECONDS = 1_800


def noise(size: int, seed: int = 1) -> bytes:
    return random.Random(seed).randbytes(size)


def box(kind: bytes, content: bytes, size: int | None = None) -> bytes:
    """A box of MP4, of the size that it says it has."""
    return struct.pack(">I4s", len(content) + 8 if size is None else size, kind) + content


FTYP = box(b"ftyp", b"M4A \0\0\2\0isomiso2")


def nested(depth: int) -> bytes:
    content = b""
    for _ in range(depth):
        content = box(b"moov", content)
    return FTYP + content


def table(kind: bytes, count: int) -> bytes:
    """An MP4 whose table says that it has so many entries."""
    rows = box(kind, struct.pack(">II", 0, count) + b"\0" * 64)
    media = box(b"mdia", box(b"minf", box(b"stbl", rows)))
    return FTYP + box(b"moov", box(b"trak", media)) + box(b"mdat", b"\0" * 4_096)


def riff(rate: int = 16_000, channels: int = 1, bits: int = 16, tag: int = 1, **sizes: int) -> bytes:
    """A WAV of a second of hum whose head says what it is told to."""
    data = hum(1.0).samples.tobytes()
    align = max(1, channels * bits // 8) & 0xFFFF
    form = struct.pack("<HHIIHH", tag, channels, rate, rate * align & 0xFFFF_FFFF, align, bits)
    head = struct.pack("<4sI4s", b"RIFF", sizes.get("riff", len(data) + 36), b"WAVE")
    head += struct.pack("<4sI", b"fmt ", sizes.get("form", len(form))) + form
    return head + struct.pack("<4sI", b"data", sizes.get("data", len(data))) + data


def parts_without_end() -> bytes:
    return b"RIFF\xff\xff\xff\xffWAVE" + b"JUNK\0\0\0\0" * 500_000


def half_an_hour_of_mp3() -> bytes:
    """The frames of a second, again and again."""
    file = BytesIO()
    with av.open(file, "w", format="mp3", options={"write_xing": "0", "id3v2_version": "0"}) as container:
        stream = container.add_stream("libmp3lame", rate=8_000, layout="mono", bit_rate=8_000)
        frame = av.AudioFrame.from_ndarray(
            np.zeros((1, 57_600), dtype=np.int16), format="s16p", layout="mono"
        )
        frame.sample_rate = 8_000
        container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue() * (LONG_SECONDS // 7 + 1)


def film() -> bytes:
    """Pictures without sound."""
    file = BytesIO()
    with av.open(file, "w", format="matroska") as container:
        stream = container.add_stream("mpeg4", rate=5)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for at in range(5):
            frame = VideoFrame.from_ndarray(np.full((64, 64, 3), at, dtype=np.uint8), format="rgb24")
            frame.pts, frame.time_base = at, Fraction(1, 5)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file.getvalue()


def many_streams() -> bytes:
    """The beginnings of a thousand streams in one Ogg."""
    return b"".join(
        b"OggS\0\2" + bytes(8) + struct.pack("<III", at, 0, 0) + b"\1\x13OpusHead\1\1" + bytes(9)
        for at in range(1_000)
    )


def late_granule() -> bytes:
    """An Ogg whose last page says that it is three hundred years long."""
    content = bytearray(written("ogg", 1.0))
    at = content.rfind(b"OggS")
    content[at + 6 : at + 14] = struct.pack("<Q", 2**62)
    return bytes(content)


def flac_of(samples: int) -> bytes:
    """A FLAC that says how many samples it has, of the highest rate and depth, and has none."""
    info = struct.pack(">HH", 65_535, 65_535) + b"\xff" * 6
    info += ((655_350 << 44) | (7 << 41) | (31 << 36) | samples).to_bytes(8, "big") + bytes(16)
    return b"fLaC" + b"\x80\0\0\x22" + info


def mutated(form: str, seed: int) -> bytes:
    """A sound in which one byte in two hundred is another."""
    chance, content = random.Random(seed), bytearray(written(form, 1.0))
    for _ in range(len(content) // 200):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content)


# What none of them may become is a sound.
REFUSED: Mapping[str, tuple[str, Callable[[], bytes]]] = {
    "nothing": ("empty", lambda: b""),
    "one byte": ("no_sound", lambda: b"R"),
    "a megabyte of noise": ("no_sound", lambda: noise(1_000_000)),
    "zeros": ("no_sound", lambda: bytes(1_000_000)),
    "a page": ("no_sound", lambda: b"<!doctype html><script>alert(1)</script>"),
    "a drawing with a script": ("no_sound", lambda: SVG),
    "a playlist of a file": ("no_sound", lambda: PLAYLIST % b"file:///etc/passwd"),
    "a playlist of an address": ("no_sound", lambda: PLAYLIST % b"http://169.254.169.254/latest/meta-data/"),
    "a script that joins files": ("no_sound", lambda: b"ffconcat version 1.0\nfile '/etc/passwd'\n"),
    "a page before a WAV": ("no_sound", lambda: b"<!doctype html><script>alert(1)</script>" + riff()),
    "an archive that grows": ("no_sound", lambda: gzip.compress(bytes(5_000_000))),
    "an archive and a WAV": ("no_sound", lambda: b"PK\3\4" + riff()),
    "a picture and an MP3": ("no_sound", lambda: b"\xff\xd8\xff\xe0\0\x10JFIF" + encode_mp3(hum(1.0), {})),
    "a program": ("no_sound", lambda: b"\x7fELF" + noise(10_000)),
    "a film without sound": ("no_sound", film),
    "half an hour of MP3": ("too_long", half_an_hour_of_mp3),
    "half an hour of WAV": (
        "too_long",
        lambda: encode_wav(Sound(np.zeros(4_000 * LONG_SECONDS, np.int16), 4_000)),
    ),
    "half an hour of nothing in some kilobytes": (
        "too_long",
        lambda: written("flac", LONG_SECONDS, rate=8_000, loud=0.0),
    ),
    "a WAV without samples": ("empty", lambda: riff()[:44]),
    "a WAV of no samples a second": ("no_sound", lambda: riff(rate=0)),
    "a WAV of one sample a second": ("no_sound", lambda: riff(rate=1)),
    "a WAV of four thousand million a second": ("no_sound", lambda: riff(rate=2**32 - 1)),
    "a WAV of no channels": ("no_sound", lambda: riff(channels=0)),
    "a WAV of 65,535 channels": ("no_sound", lambda: riff(channels=65_535)),
    "a WAV of no bits": ("no_sound", lambda: riff(bits=0)),
    "a WAV of 65,535 bits": ("no_sound", lambda: riff(bits=65_535)),
    "a WAV of an unknown codec": ("no_sound", lambda: riff(tag=0x1234)),
    "a WAV of a form of 4 GB": ("no_sound", lambda: riff(form=2**32 - 1)),
    "a WAV of parts without end": ("no_sound", parts_without_end),
    "an MP4 of a head alone": ("no_sound", lambda: FTYP),
    "an MP4 without its index": ("no_sound", lambda: FTYP + box(b"mdat", noise(100_000))),
    "an MP4 of boxes in boxes": ("no_sound", lambda: nested(5_000)),
    "an MP4 of a box of 4 GB": ("no_sound", lambda: FTYP + box(b"moov", b"", 2**32 - 1)),
    "an MP4 of a table of times without end": ("no_sound", lambda: table(b"stts", 2**32 - 1)),
    "an MP4 of a table of sizes without end": ("no_sound", lambda: table(b"stsz", 2**32 - 1)),
    "an MP4 of a table of places without end": ("no_sound", lambda: table(b"co64", 2**31 - 1)),
    "a webm of a head alone": ("no_sound", lambda: b"\x1aE\xdf\xa3" + noise(50_000)),
    "an element of Matroska of 2^56 bytes": (
        "no_sound",
        lambda: b"\x1aE\xdf\xa3\x01" + b"\xff" * 7 + bytes(999),
    ),
    "an ID3 tag of 256 MB": ("no_sound", lambda: b"ID3\4\0\0\x7f\x7f\x7f\x7f" + bytes(100_000)),
    "a FLAC that has no samples": ("empty", lambda: flac_of(2**36 - 1)),
    "an Ogg of a thousand beginnings": ("no_sound", many_streams),
    "an Ogg page alone": ("no_sound", lambda: b"OggS" + noise(30)),
    "frames of AAC of noise": ("no_sound", lambda: b"\xff\xf1\x50\x80" + noise(500_000)),
}
# What is sound all the same, and how long.
HARMLESS: Mapping[str, tuple[float, Callable[[], bytes]]] = {
    "silence": (1.0, lambda: encode_wav(hum(1.0, loud=0.0))),
    "8,000 samples a second": (1.0, lambda: written("wav of 24 bits", 1.0, rate=8_000)),
    "192,000 samples a second": (1.0, lambda: written("wav of 24 bits", 1.0, rate=192_000)),
    "a WAV that says it holds 4 GB": (1.0, lambda: riff(data=2**32 - 1, riff=2**32 - 1)),
    "a WAV that says it holds 1 GB": (1.0, lambda: riff(data=2**30)),
    "a WAV that says it holds nothing": (1.0, lambda: riff(data=0, riff=0)),
    "a WAV that says it is three times as fast": (1 / 3, lambda: riff(rate=48_000)),
    "half a webm": (1.0, lambda: written("webm", 2.0)[: len(written("webm", 2.0)) // 2]),
    "half an MP3": (1.0, lambda: written("mp3", 2.0)[: len(written("mp3", 2.0)) // 2]),
    "an Ogg that says it lasts three hundred years": (1.0, late_granule),
    "two MP3 of other rates behind each other": (
        2.0,
        lambda: encode_mp3(hum(1.0, rate=8_000), {}) + encode_mp3(hum(1.0, rate=24_000), {}),
    ),
    "tags in no known letters": (
        1.0,
        lambda: encode_mp3(hum(1.0), {"title": "xxxx"}).replace(b"xxxx", b"\xff\xfe\xfd\xfc"),
    ),
    "noise behind an MP3": (1.0, lambda: encode_mp3(hum(1.0), {}) + noise(20_000)),
    "a page behind a WAV": (1.0, lambda: encode_wav(hum(1.0)) + SVG),
}


def mutants() -> Iterator[tuple[str, bytes]]:
    for form in ("webm", "mp4", "ogg", "wav of 24 bits", "mp3", "flac", "aac"):
        for seed in range(3):
            yield f"{form} {seed}", mutated(form, seed)
