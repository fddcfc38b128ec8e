"""Tool calls, put together from the pieces that they come in."""

import json
import random
from dataclasses import dataclass
from typing import Any

from providers.pieces import ToolCall


@dataclass
class _Open:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""


class Calling:
    """Collects by index; understands servers that leave out indexes or ids, or send calls whole."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._open: list[_Open] = []

    def feed(self, changes: list[dict[str, Any]]) -> None:
        for change in changes:
            function = change.get("function") or {}
            id_, name = _text(change.get("id")), _text(function.get("name"))
            call = self._meant(change.get("index"), id_, name)
            call.id = call.id or id_
            call.name = call.name or name
            call.arguments += _text(function.get("arguments"))

    def _meant(self, index: int | None, id_: str, name: str) -> _Open:
        """The open call that a change goes on with, or a new one."""
        for call in reversed(self._open):
            is_same_place = index is None or call.index == index
            is_another = bool(id_ and call.id and id_ != call.id) or (
                index is None and bool(name and call.name)
            )
            if is_same_place:
                return self._begin(index) if is_another else call
        return self._begin(index)

    def _begin(self, index: int | None) -> _Open:
        self._open.append(_Open(index))
        return self._open[-1]

    def calls(self) -> list[ToolCall]:
        """Every call that has a name, in their order; a missing id is drawn by chance."""
        named = [call for call in self._open if call.name]
        return [ToolCall(call.id or self._new_id(), call.name, call.arguments or "{}") for call in named]

    def _new_id(self) -> str:
        return f"call_{self._chance.getrandbits(64):016x}"


def _text(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
