"""Export of a companion in the eight fields of DigitalLife. What that system has no field for is left out."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db.models import F, Prefetch

from companions.models import Companion, Message, Session
from companions.transfer.digital_life import EPOCH
from memory.learning.revisions import load_current
from memory.models import DiaryEntry, Recall, Recalled, Revision
from text.strings import join_sentences

Row = dict[str, Any]


def export_mind(companion: Companion) -> dict[str, Any]:
    """Return the eight fields. A session with messages but no diary entry gets one made from its title and summary."""
    sessions = list(Session.objects.filter(companion=companion).order_by("-started_at"))
    open_session = next((session for session in sessions if session.ended_at is None), None)
    entries = {entry.session_id: entry for entry in DiaryEntry.objects.filter(companion=companion)}
    said = _write_sessions(companion, entries.values())
    closed = [
        session
        for session in sessions
        if session.ended_at and (session.pk in entries or said.get(session.pk))
    ]
    uuids = {
        session.pk: str(entries[session.pk].pk if session.pk in entries else session.pk) for session in closed
    }
    last_message = Message.objects.filter(companion=companion, role=Message.Role.USER).exclude(author="")
    user_name = last_message.order_by("-said_at").values_list("author", flat=True).first()
    return {
        "selfName": companion.name,
        "userName": user_name or companion.user.name,
        "memoryAboutSelf": _write_revision(companion, Revision.About.SELF_CONCEPT) or companion.persona,
        "memoryAboutUser": _write_revision(companion, Revision.About.USER_PROFILE),
        "longTermMemory": [
            _write_entry(session, entries.get(session.pk), uuids[session.pk]) for session in closed
        ],
        "shortTermMemory": said.get(open_session.pk, []) if open_session else [],
        "archivedMemory": [
            {**row, "belongTo": uuids[session.pk]}
            for session in reversed(closed)
            for row in said.get(session.pk, [])
        ],
        "currentSummary": open_session.summary if open_session else "",
    }


def _write_revision(companion: Companion, about: str) -> str:
    revision = load_current(companion.pk, about)
    return join_sentences(sentence["text"] for sentence in revision.sentences) if revision else ""


def _write_entry(session: Session, entry: DiaryEntry | None, uuid: str) -> Row:
    if entry:
        summary = join_sentences(sentence["text"] for sentence in entry.sentences)
        started_at, ended_at, title = entry.started_at, entry.ended_at, entry.title
    else:
        started_at, ended_at = session.started_at, session.ended_at or session.started_at
        title, summary = session.title, session.summary
    return {
        "uuid": uuid,
        "startTime": _to_milliseconds(started_at),
        "endTime": _to_milliseconds(ended_at),
        "title": title,
        "summary": summary,
    }


def _write_sessions(companion: Companion, entries: Iterable[DiaryEntry]) -> dict[Any, list[Row]]:
    """Return, by session, its messages and the recalls by tools in between, in chronological order."""
    uuids = {entry.memory_id: str(entry.pk) for entry in entries}
    messages = Message.objects.filter(companion=companion).exclude(role=Message.Role.SYSTEM)
    lines: list[tuple[datetime, Any, list[Row]]] = [
        (at, session_id, [{"role": role, "content": text, "timestamp": _to_milliseconds(at)}])
        for at, session_id, role, text in messages.values_list("said_at", "session", "role", "text")
    ]
    recalls = Recall.objects.filter(companion=companion, by=Recall.By.TOOL).annotate(
        of=F("reply__message__session")
    )
    found = Prefetch("found", Recalled.objects.select_related("memory").defer("memory__entry"))
    lines += [
        (recall.at, recall.of, _write_recall(recall, uuids)) for recall in recalls.prefetch_related(found)
    ]
    said: dict[Any, list[Row]] = {}
    session_id = None
    for _at, of, rows in sorted(lines, key=lambda line: line[0]):
        session_id = of or session_id  # a recall without a session goes with the lines before it
        said.setdefault(session_id, []).extend(rows)
    return said


def _write_recall(recall: Recall, uuids: dict[Any, str]) -> list[Row]:
    """Return the recall as two rows: the tool's call and its result."""
    at, id = _to_milliseconds(recall.at), f"call_{recall.pk.hex}"
    arguments = orjson.dumps({"memoryDescription": recall.cue}).decode()
    call = {"id": id, "type": "function", "function": {"name": "get_memory", "arguments": arguments}}
    found = [
        {"uuid": uuids[recalled.memory_id], "similarity": recalled.score, "desc": recalled.memory.text}
        for recalled in recall.found.all()
        if recalled.memory_id in uuids
    ]
    content = "\n\n".join(str(row["desc"]) for row in found)
    return [
        {"role": "assistant", "content": "", "timestamp": at, "tool_calls": [call]},
        {"role": "tool", "content": content, "timestamp": at, "tool_call_id": id, "recall": found},
    ]


def _to_milliseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(milliseconds=1)
