"""Tool calls, which stream in parts."""

import json
import secrets
from dataclasses import dataclass, field
from typing import Any

from providers.chat.events import ToolCall
from providers.errors import MalformedError

MAX_OPEN_CALLS = 64  # tool calls of one answer; a turn runs far fewer
MAX_ARGUMENT_CHARACTERS = 1_000_000  # of all of them; what is too long for a tool is told to the model


@dataclass
class _OpenCall:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class ToolCallCollector:
    """Puts tool calls together by index; understands servers that leave out indexes or ids, or send calls whole.

    It takes MAX_OPEN_CALLS; from the next one on all is dropped.
    """

    def __init__(self) -> None:
        self._open: list[_OpenCall] = []
        self._last_at: dict[int, _OpenCall] = {}  # of those with an index
        self._is_full = False
        self._characters = 0  # of all arguments

    def feed(self, changes: list[dict[str, Any]]) -> None:
        """Take the changes of one event; MalformedError where there are more than MAX_ARGUMENT_CHARACTERS."""
        for change in changes:
            function = change.get("function") or {}
            id_, name = _as_text(change.get("id")), _as_text(function.get("name"))
            call = self._find(change.get("index"), id_, name)
            if call is None:
                return
            call.id = call.id or id_
            call.name = call.name or name
            if arguments := _as_text(function.get("arguments")):
                call.arguments.append(arguments)
                self._characters += len(arguments)
            if self._characters > MAX_ARGUMENT_CHARACTERS:
                most = f"{MAX_ARGUMENT_CHARACTERS:,}"
                raise MalformedError(f"The arguments of the tool calls have more than {most} characters")

    def _find(self, index: int | None, id_: str, name: str) -> _OpenCall | None:
        """Return the open call that a change goes on with, or a new one; None where there are too many."""
        call = self._last_at.get(index) if index is not None else self._open[-1] if self._open else None
        has_new_id = bool(call and id_ and call.id and id_ != call.id)
        has_new_name = bool(call and index is None and name and call.name)
        if call is None or has_new_id or has_new_name:
            self._is_full = len(self._open) == MAX_OPEN_CALLS
            call = _OpenCall()
            if not self._is_full:
                self._open.append(call)
            if not self._is_full and index is not None:
                self._last_at[index] = call
        return None if self._is_full else call

    def finish(self) -> list[ToolCall]:
        """Return every call that has a name, in their order; a missing id is drawn by chance."""
        calls = [call for call in self._open if call.name]
        for call in calls:
            call.id = call.id or f"call_{secrets.token_hex(8)}"
        return [ToolCall(call.id, call.name, "".join(call.arguments) or "{}") for call in calls]


def _as_text(arguments: object) -> str:
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments, ensure_ascii=False)
