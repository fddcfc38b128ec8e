"""Files of earlier talk as SillyTavern and ChatGPT write them, and importing one as its person does."""

import json
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from companions.models import Companion, PastImport
from companions.pasts import imports
from companions.pasts.imports import Wanted
from companions.pasts.uploads import keep_upload
from pasts.reader import read_past

Line = tuple[bool, str, datetime | None]  # whether the person said it, what, and when


def sillytavern(
    lines: Sequence[Line],
    swipes: dict[int, Sequence[str]] | None = None,
    names: tuple[str, str] = ("Alice", "Odo"),
) -> bytes:
    """A chat of SillyTavern's; `swipes` are by the place of a line what else was answered there."""
    rows: list[dict[str, Any]] = [{"user_name": names[0], "character_name": names[1], "chat_metadata": {}}]
    for place, (is_person, text, at) in enumerate(lines):
        row: dict[str, Any] = {"name": names[0] if is_person else names[1], "is_user": is_person, "mes": text}
        if at:
            row["send_date"] = at.isoformat().replace("+00:00", "Z")
        if other := (swipes or {}).get(place):
            row |= {"swipes": [text, *other], "swipe_id": 0}
        rows.append(row)
    return "\n".join(json.dumps(row) for row in rows).encode()


def chatgpt(lines: Sequence[Line], others: dict[int, Sequence[str]] | None = None) -> bytes:
    """ChatGPT's conversations.json with one talk; `others` are by the place of a line a chain that parts there."""
    mapping: dict[str, dict[str, Any]] = {
        "root": {"id": "root", "message": None, "parent": None, "children": []}
    }

    def add(name: str, parent: str, is_person: bool, text: str, at: datetime | None) -> None:
        mapping[name] = {
            "id": name,
            "parent": parent,
            "children": [],
            "message": {
                "id": name,
                "author": {"role": "user" if is_person else "assistant"},
                "create_time": at.timestamp() if at else None,
                "content": {"content_type": "text", "parts": [text]},
            },
        }
        mapping[parent]["children"].append(name)

    parent = "root"
    for place, (is_person, text, at) in enumerate(lines):
        before = parent
        for step, other in enumerate((others or {}).get(place, ())):
            later = at + timedelta(seconds=step) if at else None
            add(f"other-{place}-{step}", before, is_person if step % 2 == 0 else not is_person, other, later)
            before = f"other-{place}-{step}"
        add(f"line-{place}", parent, is_person, text, at)
        parent = f"line-{place}"
    told = [at for _, _, at in lines if at]
    talk = {
        "title": "A talk",
        "create_time": told[0].timestamp() if told else None,
        "mapping": mapping,
        "current_node": parent,
        "conversation_id": "talk-1",
    }
    return json.dumps([talk]).encode()


def begin(companion: Companion, content: bytes, now: datetime, wanted: Wanted | None = None) -> PastImport:
    """The import of the file, which has yet to be run."""
    read = read_past(content)
    upload = keep_upload(companion.user, content, read.form, "chat.jsonl", now)
    return imports.begin(companion, upload, read, wanted or Wanted(), now)


def imported(companion: Companion, content: bytes, now: datetime, wanted: Wanted | None = None) -> PastImport:
    """The import after it was run."""
    past = begin(companion, content, now, wanted)
    imports.run(past.pk, now)
    past.refresh_from_db()
    return past
