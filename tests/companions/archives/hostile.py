"""Archives that somebody made by hand."""

import io
import json
import struct
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from files.archives import MAX_ENTRIES
from tests.companions.archives.everything import NOON
from tests.companions.archives.packing import Edit, Entries, edit, listed, read_entries, rows, write_entries

ELSEWHERE = "4b1f9c1e-0000-4000-8000-000000000000"
LORE = {"keys": ["tea"], "secondary_keys": [], "content": "Tea is hot.", "extensions": {}}
LATER = "2026-04-10T12:00:00+00:00"


def first(**changed: Any) -> Callable[[list[dict[str, Any]]], None]:
    return lambda listed: listed[0].update(changed)


def many(count: int, **changed: Any) -> Callable[[list[dict[str, Any]]], None]:
    """So many rows of the kind of the first."""
    return lambda listed: listed.extend(
        {**listed[0], "id": str(uuid4()), "name": f"n{number}", "place": number} | changed
        for number in range(count)
    )


def nights_to_work(nights: list[dict[str, Any]]) -> None:
    """One a night for years, all of which wait."""
    for number in range(1, 2_002):
        day = (NOON + timedelta(days=number)).date().isoformat()
        nights.append(
            {**nights[0], "id": str(uuid4()), "night_of": day, "state": "waiting"}
            | {"next_at": LATER, "ended_at": None}
        )


def file_of(kind: str, content: bytes | None, /, **changed: Any) -> Edit:
    """Give the file of that kind another content, about which its row tells the truth, and what is changed."""

    def apply(entries: Entries) -> None:
        import hashlib

        def change(listed: list[dict[str, Any]]) -> None:
            [row] = [row for row in listed if row["kind"] == kind][:1]
            if content is not None:
                entries[f"files/{row['id']}"] = content
                row |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            row |= changed

        rows("files", change)(entries)

    return apply


def zip_of(path: str, content: bytes) -> bytes:
    written = io.BytesIO()
    with ZipFile(written, "w", ZIP_DEFLATED) as opened:
        opened.writestr(path, content)
    return written.getvalue()


def circle(messages: list[dict[str, Any]]) -> None:
    messages[0]["parent_id"] = messages[-1]["id"]
    messages[-1]["parent_id"] = messages[0]["id"]


def drop_file(entries: Entries) -> None:
    del entries[next(path for path in entries if path.startswith("files/"))]


def into_journal(table: str, kind: str = "insert", **content: Any) -> Edit:
    """An entry that would write such a row when a branch is chosen."""
    number = "7" if table in ("memory_slot", "memory_block") else ELSEWHERE
    row = {"at": ELSEWHERE, "table": table, "row": number, "kind": kind, "before": None, "is_undone": True}
    return rows("journal", lambda listed: listed.append({**row, "after": content or None}))


# What is wrong in what is told: of each the edit of an archive.
EDITS: dict[str, Edit | tuple[Edit, ...]] = {
    "newer major version": listed(version="2.0"),
    "no version": listed(version="one"),
    "another format": listed(format="zip"),
    "files beyond the quota": listed(files={"count": 1, "bytes": 10**12}),
    "more in its files than it says": listed(files={"count": 6, "bytes": 100}),
    "name of nothing": listed(companion={"name": ""}),
    "time that no calendar has": listed(span={"first": "0001-01-01T00:00:00+00:00"}),
    "two companions": rows("companion", lambda listed: listed.append({**listed[0], "id": ELSEWHERE})),
    "no conversation": rows("conversations", list.clear),
    "line that is no JSON": lambda entries: entries.update(
        {"messages.ndjson": entries["messages.ndjson"] + b"{]\n"}
    ),
    "line of brackets": lambda entries: entries.update({"slots.ndjson": b"[" * 400_000 + b"\n"}),
    "row that is a list": lambda entries: entries.update({"slots.ndjson": b"[]\n"}),
    "text that is a number": rows("messages", first(text=1)),
    "text with a NUL": rows("messages", first(text="a\0b")),
    "text that is too long": rows("companion", first(persona="x" * 40_001)),
    "name that is too long": rows("companion", first(name="x" * 81)),
    "role that there is not": rows("messages", first(role="operator")),
    "time without a zone": rows("messages", first(said_at="2026-03-10T12:00:00")),
    "number out of bounds": rows("memories", first(importance=11)),
    "number that only the form bounds": rows("companion", first(tint=360)),
    "number beyond the database": rows("memories", first(evidence=2**40)),
    "yes that is a text": rows("messages", first(is_hidden="true")),
    "id that is none": rows("messages", first(id="1")),
    "id twice": rows("messages", lambda listed: listed.append(listed[0])),
    "message of nobody's conversation": rows("messages", first(conversation_id=ELSEWHERE)),
    "memory of no message": rows("memory_sources", first(message_id=ELSEWHERE)),
    "messages in a circle": rows("messages", circle),
    "quotes that are no list": rows("memories", first(quotes={"a": 1})),
    "call without a name": rows("replies", first(tool_calls=[{"arguments": "{}"}])),
    "sampling that there is not": rows("mind", first(sampling={"endpoint": "http://127.0.0.1"})),
    "lore entry whose keys are no texts": rows("lore_entries", first(data={**LORE, "secondary_keys": [{}]})),
    "lore entry whose extensions are a text": rows("lore_entries", first(data={**LORE, "extensions": "x"})),
    "card whose data is a text": rows("card", first(content={"data": "x"})),
    "card whose extensions are a text": rows("card", first(content={"data": {"extensions": "x"}})),
    "change of what is no text of a character": rows("character_versions", first(changed=["user_id"])),
    "JSON that is too deep": rows("changes", first(before=json.loads('{"a":' * 60 + "1" + "}" * 60))),
    "more slots than there can be": rows(
        "slots",
        lambda listed: listed.extend({**listed[0], "id": 1000 + n, "name": f"s{n}"} for n in range(100)),
    ),
    "more timers than there can be": rows("timers", many(53, state="active", due_at=LATER, look_at=LATER)),
    "more documents than there can be": rows("documents", many(101)),
    "more lorebooks than there can be": rows("lorebooks", many(101)),
    "more lore in a book than there can be": rows("lore_entries", many(2_001)),
    "more nights to work than any companion has": rows("nights", nights_to_work),
    "thread that is open and closed": rows("threads", first(closed_at="2026-03-10T12:00:00+00:00")),
    "voice without consent": rows("voice", first(consented_at=None)),
    "journal of another table": into_journal("accounts_user", id=1),
    "journal that makes a companion": into_journal("companions_companion", id=ELSEWHERE),
    "journal with a row of another name": into_journal(
        "memory_revision",
        id=str(uuid4()),
        about="self_concept",
        number=9,
        by="user",
        made_at="2026-03-10T12:00:00Z",
    ),
    "journal with a text too long": into_journal("memory_slot", id=7, name="n" * 61, text="t", by="user"),
    "journal without what changed": into_journal("memory_revision", "update"),
    "page as a picture": file_of("picture", b"<html><script>alert(1)</script>"),
    "page named as what it is": file_of("picture", b"<svg/>", content_type="image/svg+xml"),
    "picture with more behind it": file_of("picture", None, bytes=10),
    "sound that is none": file_of("recording", b"ID3 nothing"),
    "assets that are no ZIP": file_of("card", b"PK\3\4nothing"),
    "assets whose list is nested without end": file_of("card", zip_of("assets.json", b"[" * 100_000)),
    "kind of file that does not travel": file_of("picture", None, kind="archive"),
    "wrong checksum of a file": file_of("picture", None, sha256="0" * 64),
    "file that is not there": drop_file,
}


def link(path: str) -> ZipInfo:
    info = ZipInfo(path)
    info.external_attr = 0o120777 << 16
    return info


def zip_with(archive: bytes, *more: tuple[ZipInfo | str, bytes]) -> bytes:
    written = io.BytesIO(archive)
    with ZipFile(written, "a", ZIP_DEFLATED) as opened:
        for path, content in more:
            opened.writestr(path, content)
    return written.getvalue()


def lie_about_size(archive: bytes) -> bytes:
    """Say in the directory that the messages are longer than they are."""
    at = archive.rfind(b"messages.ndjson")
    size = struct.unpack_from("<I", archive, at - 46 + 24)[0]
    return archive[: at - 46 + 24] + struct.pack("<I", size + 1000) + archive[at - 46 + 28 :]


def with_list(content: bytes) -> Callable[[bytes], bytes]:
    return lambda archive: write_entries(read_entries(archive) | {"manifest.json": content})


ZIPS: dict[str, Callable[[bytes], bytes]] = {
    "a list that is no object": with_list(b"[]"),
    "a list that is no JSON": with_list(b"{"),
    "a list of a gigabyte": with_list(b'{"a":"' + b"1234567890" * 250_000 + b'"}'),
    "no ZIP": lambda archive: b"PK\3\4" + b"x" * 100,
    "cut in half": lambda archive: archive[: len(archive) // 2],
    "a path above": lambda archive: zip_with(archive, ("../../etc/passwd", b"x")),
    "an absolute path": lambda archive: zip_with(archive, ("/etc/passwd", b"x")),
    "a link": lambda archive: zip_with(archive, (link("files/link"), b"/etc/passwd")),
    "a bomb": lambda archive: zip_with(archive, ("bomb", b"\0" * 30_000_000)),
    "two of a name": lambda archive: zip_with(archive, ("Messages.ndjson", b"")),
    "a wrong size": lie_about_size,
    "another sum than listed": lambda archive: write_entries(
        read_entries(archive)
        | {"messages.ndjson": read_entries(archive)["messages.ndjson"].replace(b"tea", b"the")}
    ),
    "more entries than there can be": lambda archive: zip_with(
        archive, *((f"x/{number}", b"") for number in range(MAX_ENTRIES + 1))
    ),
}


def make_hostile(name: str, archive: bytes) -> bytes:
    """The archive with what is of that name in EDITS or ZIPS."""
    if name in ZIPS:
        return ZIPS[name](archive)
    edits = EDITS[name]
    return edit(archive, *(edits if isinstance(edits, tuple) else (edits,)))
