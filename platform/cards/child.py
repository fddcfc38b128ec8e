"""python -m cards.child [TABLE]: parse the card on standard input, inside the sandbox.

TABLE decodes RisuAI's modules (`risum.py`), in hexadecimal digits.

The answer is {"form", "version", "json", "picture"}, of which the last two are lengths in bytes, followed by the JSON,
the picture and the assets one after the other; or it is {"code"}. The JSON is {"card", "remarks", "assets"}.
"""

import json
import os
import re
import sys
from typing import IO, NamedTuple

from cards.assets import FileCard, choose_icon, resolve
from cards.charx import has_archive, read_charx
from cards.png import MAGIC, read_png
from cards.schema import LOREBOOK, read_json
from cards.values import MAX_JSON_BYTES, CardFormatError
from files.zips import OTHER_ARCHIVE, START
from jobs.confinement import answer, limit_process

MAX_BYTES = 50_000_000  # of a file read into memory whole; a CHARX stays on disk and may be larger
MEMORY_BYTES = 256 * 1024**2
CPU_SECONDS = 2
WRITTEN_BYTES = 128 * 1024**2
BEGINNING_BYTES = 1_000
JSON = re.compile(rb"(?:\xef\xbb\xbf|\xff\xfe\x00*|\x00*\xfe\xff)?[\s\x00]*[{\[]")


class Parsed(NamedTuple):
    """A parsed file; `form`, recognised by content, is "png", "charx", "json", or "lorebook" (also JSON)."""

    form: str
    file: FileCard


def parse(file: IO[bytes], table: bytes = b"") -> Parsed:
    """Return the card in the file, whose form is recognised by its bytes and never by a name. Raise CardFormatError.

    RisuAI's modules are decoded with `table`.
    """
    length = file.seek(0, os.SEEK_END)
    file.seek(0)
    beginning = file.read(BEGINNING_BYTES)
    file.seek(0)
    if OTHER_ARCHIVE.match(beginning):
        raise CardFormatError("other_archive")
    is_png = beginning.startswith(MAGIC)
    if is_png or JSON.match(beginning):
        if length > MAX_BYTES:
            raise CardFormatError("too_large")
        return Parsed("png", read_png(file.read())) if is_png else _parse_json(file.read())
    if has_archive(file):
        return Parsed("charx", read_charx(file, table))
    raise CardFormatError("broken_zip" if beginning.startswith(START) else "no_card")


def _parse_json(content: bytes) -> Parsed:
    known = read_json(content)
    assets, remarks = resolve(known.card, lambda _path, _max_bytes: None)
    known.remarks.extend(sorted(remarks))
    icon = choose_icon(assets)
    form = "lorebook" if known.card["spec"] == LOREBOOK else "json"
    return Parsed(form, FileCard(known, icon.content if icon else None, assets))


def main(table: str = "") -> None:
    limit_process(MEMORY_BYTES, CPU_SECONDS, WRITTEN_BYTES)
    try:
        form, (known, picture, assets) = parse(sys.stdin.buffer, bytes.fromhex(table))
    except CardFormatError as error:
        answer({"code": error.code})
        return
    except MemoryError:
        answer({"code": "too_large"})
        return
    listed = [
        {
            "type": asset.type,
            "name": asset.name,
            "ext": asset.ext,
            "uri": asset.uri,
            "bytes": len(asset.content),
        }
        for asset in assets
    ]
    body = {"card": known.card, "remarks": known.remarks, "assets": listed}
    text = json.dumps(body, ensure_ascii=False).encode()
    if len(text) > 2 * MAX_JSON_BYTES:
        answer({"code": "too_large"})
        return
    head = {"form": form, "version": known.version, "json": len(text), "picture": len(picture or b"")}
    answer(head, text)
    for content in (picture or b"", *(asset.content for asset in assets)):
        sys.stdout.buffer.write(content)  # one at a time: joining them first would double the memory


if __name__ == "__main__":
    main(*sys.argv[1:])
