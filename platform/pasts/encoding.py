"""Reading a file's text as UTF-8 from UTF-8, UTF-16 or UTF-32, piece by piece, so that it is in memory only once."""

import codecs
import json
from io import BytesIO
from typing import IO

from pasts.past import PastFormatError

PIECE_BYTES = 1_000_000
MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # byte order marks of UTF-16 and UTF-32
MARK_OF_UTF8 = b"\xef\xbb\xbf"


def read_utf8(file: IO[bytes], most_bytes: int) -> bytes:
    """Return the rest of the file as UTF-8, without a byte order mark. Other encodings are returned unchanged.

    Raise PastFormatError `too_large` if it has more than `most_bytes`, or `wrong_encoding`.
    """
    text, length = BytesIO(), 0
    piece = file.read(PIECE_BYTES)
    decoder = _choose_decoder(piece)
    if not decoder and piece.startswith(MARK_OF_UTF8):
        piece, length = piece[len(MARK_OF_UTF8) :], len(MARK_OF_UTF8)
    while piece:
        length += len(piece)
        if length > most_bytes:
            raise PastFormatError("too_large")
        text.write(_recode(decoder, piece) if decoder else piece)
        piece = file.read(PIECE_BYTES)
    if decoder:
        text.write(_recode(decoder, b""))
    return text.getvalue()  # no copy, since nothing else holds it


def _choose_decoder(beginning: bytes) -> codecs.IncrementalDecoder | None:
    """Return a decoder for UTF-16 or UTF-32 if a byte order mark or the form of JSON shows it; otherwise None."""
    encoding = json.detect_encoding(beginning)
    if encoding.startswith("utf-8"):
        return None
    begins = beginning[:64].decode(encoding, "ignore").lstrip("\ufeff \r\n")
    if not beginning.startswith(MARKS) and not begins.startswith(("{", "[")):
        return None
    return codecs.getincrementaldecoder(encoding)()


def _recode(decoder: codecs.IncrementalDecoder, piece: bytes) -> bytes:
    try:
        return decoder.decode(piece, final=not piece).encode(errors="replace")
    except UnicodeDecodeError:
        raise PastFormatError("wrong_encoding") from None
