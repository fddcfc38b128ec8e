"""Files of earlier talk as SillyTavern and ChatGPT write them."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

Line = tuple[bool, str, datetime | None]  # whether the person said it, what, and when


def sillytavern(
    lines: Sequence[Line],
    swipes: Mapping[int, Sequence[str]] | None = None,
    *,
    person: str = "Alice",
    character: str = "Odo",
) -> bytes:
    """Return a chat of SillyTavern's; `swipes` are by the place of a line what else was answered there."""
    rows: list[dict[str, Any]] = [{"user_name": person, "character_name": character, "chat_metadata": {}}]
    for place, (is_person, text, at) in enumerate(lines):
        row: dict[str, Any] = {
            "name": person if is_person else character,
            "is_user": is_person,
            "mes": text,
        }
        if at:
            row["send_date"] = at.isoformat().replace("+00:00", "Z")
        if other := (swipes or {}).get(place):
            row |= {"swipes": [text, *other], "swipe_id": 0}
        rows.append(row)
    return "\n".join(json.dumps(row) for row in rows).encode()


def chatgpt(lines: Sequence[Line], others: Mapping[int, Sequence[str]] | None = None) -> bytes:
    """Return a conversations.json of ChatGPT's with one talk; `others` are by the place of a line what was said from
    there on another way, whose first is in that line's place.
    """
    nodes: dict[str, dict[str, Any]] = {
        "root": {"id": "root", "message": None, "parent": None, "children": []}
    }

    def add(name: str, parent: str, is_person: bool, text: str, at: datetime | None) -> str:
        message = {
            "id": name,
            "author": {"role": "user" if is_person else "assistant"},
            "create_time": at.timestamp() if at else None,
            "content": {"content_type": "text", "parts": [text]},
        }
        nodes[name] = {"id": name, "parent": parent, "children": [], "message": message}
        nodes[parent]["children"].append(name)
        return name

    last = "root"
    for place, (is_person, text, at) in enumerate(lines):
        before = last
        for step, other in enumerate((others or {}).get(place, ())):
            later = at + timedelta(seconds=step) if at else None
            before = add(f"other-{place}-{step}", before, is_person != bool(step % 2), other, later)
        last = add(f"line-{place}", last, is_person, text, at)
    told = [at.timestamp() for _, _, at in lines if at]
    talk = {
        "title": "A talk",
        "create_time": min(told, default=None),
        "mapping": nodes,
        "current_node": last,
        "conversation_id": "talk-1",
    }
    return json.dumps([talk]).encode()
