"""What a file is, by its first bytes: neither names nor headers of HTTP are asked."""

ADTS_OR_MPEG, LAYER = 0xE0, 0x06


def kind_of(content: bytes) -> str:
    """FFmpeg's name of the container: matroska, mov, ogg, wav, mp3, flac or aac; empty for anything else.

    FFmpeg's own guess is never asked: it knows playlists and scripts too, which make it open other files.
    """
    if content[:4] in (b"RIFF", b"RF64") and content[8:12] == b"WAVE":
        return "wav"
    starts = {b"OggS": "ogg", b"fLaC": "flac", b"\x1aE\xdf\xa3": "matroska", b"ID3": "mp3"}
    named = next((kind for start, kind in starts.items() if content.startswith(start)), "")
    return named or ("mov" if content[4:8] == b"ftyp" else _of_frames(content))


def _of_frames(content: bytes) -> str:
    """A stream of frames that has no head of its own: MP3 or AAC."""
    if len(content) < 4 or content[0] != 0xFF or content[1] & ADTS_OR_MPEG != ADTS_OR_MPEG:
        return ""
    if content[1] & LAYER:
        return "mp3"
    return "aac" if content[1] & 0xF0 == 0xF0 else ""
