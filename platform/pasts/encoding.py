"""A file's text as UTF-8, whatever it is encoded in: read piece by piece, so that it lies in memory once."""

import codecs
import json
from io import BytesIO
from typing import IO

from pasts.past import PastFormatError

PIECE_BYTES = 1_000_000
MARKS = (b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")  # of UTF-16 and UTF-32
MARK_OF_UTF8 = b"\xef\xbb\xbf"


def read_utf8(file: IO[bytes], most_bytes: int) -> bytes:
    """Return the rest of a file without a mark of its encoding. What is no UTF-8, and says so nowhere, is as it came.

    PastFormatError `too_large` of more bytes in the file, `wrong_encoding`.
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
    """Return one of UTF-16 or UTF-32, where a mark or JSON itself tells so."""
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
