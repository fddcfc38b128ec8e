"""Character.AI's chats, as CAI Tools and similar scripts save them from either of the site's two interfaces.

The older interface has histories of `msgs`, some of which are alternatives; the newer one has turns, newest first, with
candidates each.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

from pasts.collector import Collector
from pasts.json_scan import Piece, as_list, as_mapping, as_text
from pasts.times import read_time

LISTS = ("histories", "chats", "turns", "messages", "msgs")
MESSAGE = {"src__is_human", "src", "is_alternative"}
TURN = {"turn_key", "candidates"}
WITHIN = 3  # levels of nesting that are searched for the list


def is_export(keys: Iterable[str]) -> bool:
    """Return whether an object with these keys belongs to such an export: as its root, a history, message or turn."""
    found = set(keys)
    return bool(found & {"histories", "turns", "msgs"}) or found >= TURN or {"src__is_human", "text"} <= found


def read_export(collector: Collector, root: Piece) -> None:
    """Read all histories of the export. Raise PastFormatError."""
    for history in _find_histories(root):
        collector.count_talk()
        fields = dict(history.members()) if history.is_object else {}
        inner = next((fields[name] for name in LISTS if name in fields), history)
        facts = {
            key: piece.load()
            for key, piece in fields.items()
            if key in {"external_id", "chat_id", "created", "create_time", "last_interaction", "chat"}
        }
        _read_history(collector, inner, facts)


def _find_histories(root: Piece) -> Iterator[Piece]:
    """Yield each history: an object that contains messages or turns, or a bare list of them."""
    piece = root
    for _level in range(WITHIN):
        if piece.is_object:
            fields = dict(piece.members())
            inner = next((fields[name] for name in LISTS if name in fields), None)
            if inner is None:
                return
            if inner.is_list and _holds_messages(inner):
                yield piece
                return
            piece = inner
        elif _holds_messages(piece):
            yield piece
            return
        else:
            yield from (inner for inner in piece.elements() if inner.is_object)
            return


def _holds_messages(piece: Piece) -> bool:
    first = next(piece.elements(), None)
    keys = {key for key, _piece in first.members()} if first else set()
    return bool(keys & (MESSAGE | TURN)) or first is None


class Turn(NamedTuple):
    """A message of one side with its alternatives; the first of `candidates` is the chosen one."""

    speaker: str
    is_person: bool
    candidates: list[tuple[object, str, datetime | None]]  # id, text, time


def _read_history(collector: Collector, messages: Piece, facts: dict[str, Any]) -> None:
    turns: list[Turn] = []
    waiting: list[Turn] = []  # alternatives that come before their chosen message
    for piece in messages.elements():
        collector.count_items()
        fields = as_mapping(piece.load())
        if TURN & fields.keys():
            turns.append(_read_turn(collector, fields))
        elif fields:
            turn = _read_old_message(collector, fields, facts)
            if fields.get("is_alternative"):
                _add_alternative(turns, waiting, turn)
            else:
                for other in waiting:
                    turn.candidates.extend(other.candidates)
                waiting.clear()
                turns.append(turn)
    turns.extend(waiting[:1])
    times = [turn.candidates[0][2] for turn in turns if turn.candidates]
    if times and (first := times[0]) and (last := times[-1]) and _is_after(first, last):
        turns.reverse()  # the site lists them newest first
    _add_turns(collector, turns, facts)


def _add_alternative(turns: list[Turn], waiting: list[Turn], turn: Turn) -> None:
    if turns and (turns[-1].is_person, turns[-1].speaker) == (turn.is_person, turn.speaker):
        turns[-1].candidates.extend(turn.candidates)
    else:
        waiting.append(turn)


def _add_turns(collector: Collector, turns: list[Turn], facts: dict[str, Any]) -> None:
    chat = as_mapping(facts.get("chat"))
    bounds = {
        0: facts.get("created") or chat.get("create_time"),
        len(turns) - 1: facts.get("last_interaction"),
    }
    leaf: str | None = None
    for number, turn in enumerate(turns):
        parent = leaf
        for at, (id, text, moment) in enumerate(turn.candidates):
            given = collector.add(
                collector.shorten_id(id) or f"{number}.{at}",
                parent=parent,
                speaker=turn.speaker,
                is_person=turn.is_person,
                text=text,
                at=moment or (read_time(bounds.get(number)) if at == 0 else None),
            )
            leaf = (given or leaf) if at == 0 else leaf
    title = next((turn.speaker for turn in turns if not turn.is_person), "")
    id = facts.get("external_id") or facts.get("chat_id") or chat.get("chat_id") or ""
    collector.end(title=title, id=id, leaf=leaf)


def _read_turn(collector: Collector, fields: dict[str, Any]) -> Turn:
    author = as_mapping(fields.get("author"))
    found = []
    candidates = as_list(fields.get("candidates"))
    collector.count_items(len(candidates))
    for candidate in map(as_mapping, candidates):
        if candidate.get("tti_image_rel_path"):
            collector.remarks.add("files_left_out")
        at = read_time(candidate.get("create_time")) or read_time(fields.get("create_time"))
        found.append((candidate.get("candidate_id"), as_text(candidate.get("raw_content")), at))
    if chosen := fields.get("primary_candidate_id"):
        found.sort(key=lambda candidate: candidate[0] != chosen)
    return Turn(as_text(author.get("name")), bool(author.get("is_human")), found)


def _read_old_message(collector: Collector, fields: dict[str, Any], facts: dict[str, Any]) -> Turn:
    source = as_mapping(fields.get("src"))
    names = (fields.get("src__name"), source.get("name"), fields.get("display_name"))
    speaker = next(filter(None, map(as_text, names)), "")
    if fields.get("image_rel_path"):
        collector.remarks.add("files_left_out")
    created = fields.get("created")  # CAI Tools repeats the history's own time at each message
    at = None if created == facts.get("created") else read_time(created)
    is_person = bool(fields.get("src__is_human", source.get("is_human")))
    id = fields.get("uuid") if fields.get("id") is None else fields["id"]
    return Turn(speaker, is_person, [(id, as_text(fields.get("text")), at)])


def _is_after(first: datetime, last: datetime) -> bool:
    return (first.tzinfo is None) == (last.tzinfo is None) and first > last
