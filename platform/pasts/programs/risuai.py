"""RisuAI's chats as JSON: one, or all of a character's. They lack the greeting, which is saved with the character."""

import re

from pasts.collector import Collector
from pasts.json_scan import Piece, as_mapping, as_text
from pasts.times import read_time

KINDS = {"risuChat", "risuAllChats"}
MAX_SAYERS = 100
INLAY = re.compile(r"\{\{(?:inlay|inlayed|inlayeddata)::[^{}]{0,200}\}\}")
# Called so if the file has no name for them.
SPEAKERS = {"user": ("user", True), "char": ("assistant", False)}


def read_export(collector: Collector, root: Piece) -> None:
    """Read one chat or many. Raise PastFormatError."""
    data = dict(root.members()).get("data")
    if data is None:
        return
    for chat in [data] if data.is_object else data.elements():
        _read_chat(collector, dict(chat.members()))


def _read_chat(collector: Collector, chat: dict[str, Piece]) -> None:
    collector.count_talk()
    leaf: str | None = None
    sayers: dict[str, int] = {}  # ids of characters, which the file does not name; several in a group
    for number, piece in enumerate(chat["message"].elements() if "message" in chat else ()):
        collector.count_items()
        fields = as_mapping(piece.load())
        role = as_text(fields.get("role"))
        if role not in SPEAKERS or fields.get("isComment"):
            collector.remarks.add("system_left_out")
            continue
        text = as_text(fields.get("data"))
        if INLAY.search(text):
            collector.remarks.add("files_left_out")
            text = INLAY.sub("", text)
        speaker, is_person = SPEAKERS[role]
        if not is_person and len(sayers) < MAX_SAYERS:
            place = sayers.setdefault(as_text(fields.get("saying")), len(sayers) + 1)
            speaker = f"{speaker} {place}" if place > 1 else speaker
        given = collector.add(
            collector.shorten_id(fields.get("chatId")) or str(number),
            parent=leaf,
            speaker=as_text(fields.get("name")) or speaker,
            is_person=is_person,
            text=text,
            at=read_time(fields.get("time")),
        )
        leaf = given or leaf
    if leaf:
        collector.remarks.add("greeting_missing")
    facts = {key: chat[key].load() for key in ("name", "id") if key in chat}
    collector.end(title=facts.get("name"), id=facts.get("id"), leaf=leaf)
