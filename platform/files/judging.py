"""What a content is, told by its first bytes alone: names and headers say what somebody wished it to be."""

SIGNS: list[tuple[int, bytes, str]] = [  # where, what, and what it then is
    (0, b"\x89PNG\r\n\x1a\n", "image/png"),
    (0, b"\xff\xd8\xff", "image/jpeg"),
    (0, b"GIF87a", "image/gif"),
    (0, b"GIF89a", "image/gif"),
    (8, b"WEBP", "image/webp"),
    (8, b"WAVE", "audio/wav"),
    (0, b"ID3", "audio/mpeg"),
    (0, b"OggS", "audio/ogg"),
    (0, b"fLaC", "audio/flac"),
    (0, b"\x1a\x45\xdf\xa3", "video/webm"),  # also where there is sound alone
    (4, b"ftyp", "video/mp4"),  # the same
]
RIFF = {"image/webp", "audio/wav"}


def judged(content: bytes) -> str:
    """The content type of a picture or sound that Kith may read; "" for everything else."""
    for at, sign, content_type in SIGNS:
        if content[at : at + len(sign)] == sign:
            return content_type if content_type not in RIFF or content[:4] == b"RIFF" else ""
    return "audio/mpeg" if _is_mpeg_frame(content) else ""


def _is_mpeg_frame(content: bytes) -> bool:
    """An MP3 without tags begins with a frame: eleven bits of sync, then a version and a layer that there are."""
    if len(content) < 4 or content[0] != 0xFF or content[1] & 0xE0 != 0xE0:
        return False
    version, layer, rate = content[1] >> 3 & 3, content[1] >> 1 & 3, content[2] >> 4
    return version != 1 and layer != 0 and rate != 15
