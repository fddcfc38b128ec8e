"""A companion written as DigitalLife's eight fields. What that system does not know stays behind."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db.models import F, Prefetch

from companions.models import Companion, Message, Session
from companions.transfer.digital_life import EPOCH
from memory.learning.revisions import current
from memory.models import DiaryEntry, Recall, Recalled, Revision
from text.sentences import join_sentences

Row = dict[str, Any]


def export_mind(companion: Companion) -> dict[str, Any]:
    """The eight fields. What was said in a session without a diary entry belongs to one that is made of its title."""
    sessions = list(Session.objects.filter(companion=companion).order_by("-started_at"))
    open_ = next((one for one in sessions if one.ended_at is None), None)
    entries = {one.session_id: one for one in DiaryEntry.objects.filter(companion=companion)}
    said = _said(companion, entries.values())
    closed = [one for one in sessions if one.ended_at and (one.pk in entries or said.get(one.pk))]
    belongs = {one.pk: str(entries[one.pk].pk if one.pk in entries else one.pk) for one in closed}
    return {
        "selfName": companion.name,
        "userName": _user_name(companion),
        "memoryAboutSelf": _understood(companion, Revision.About.SELF_CONCEPT) or companion.persona,
        "memoryAboutUser": _understood(companion, Revision.About.USER_PROFILE),
        "longTermMemory": [_long(one, entries.get(one.pk), belongs[one.pk]) for one in closed],
        "shortTermMemory": said.get(open_.pk, []) if open_ else [],
        "archivedMemory": [
            {**row, "belongTo": belongs[one.pk]} for one in reversed(closed) for row in said.get(one.pk, [])
        ],
        "currentSummary": open_.summary if open_ else "",
    }


def _understood(companion: Companion, about: str) -> str:
    revision = current(companion.pk, about)
    return join_sentences(one["text"] for one in revision.sentences) if revision else ""


def _user_name(companion: Companion) -> str:
    mine = Message.objects.filter(companion=companion, role=Message.Role.USER).exclude(author="")
    last = mine.order_by("-said_at").values_list("author", flat=True).first()
    return last or companion.user.name


def _long(session: Session, entry: DiaryEntry | None, uuid: str) -> Row:
    return {
        "uuid": uuid,
        "startTime": _milliseconds(entry.started_at if entry else session.started_at),
        "endTime": _milliseconds(entry.ended_at if entry else session.ended_at or session.started_at),
        "title": entry.title if entry else session.title,
        "summary": join_sentences(one["text"] for one in entry.sentences) if entry else session.summary,
    }


def _said(companion: Companion, entries: Iterable[DiaryEntry]) -> dict[Any, list[Row]]:
    """What was said in each session, and what a tool called to mind in between, in the order of time."""
    uuids = {one.memory_id: str(one.pk) for one in entries}
    messages = Message.objects.filter(companion=companion).exclude(role=Message.Role.SYSTEM)
    lines: list[tuple[datetime, Any, list[Row]]] = [
        (at, session_id, [{"role": role, "content": text, "timestamp": _milliseconds(at)}])
        for at, session_id, role, text in messages.values_list("said_at", "session", "role", "text")
    ]
    recalls = Recall.objects.filter(companion=companion, by=Recall.By.TOOL).annotate(
        of=F("reply__message__session")
    )
    found = Prefetch("found", Recalled.objects.select_related("memory").defer("memory__entry"))
    lines += [(one.at, one.of, _called(one, uuids)) for one in recalls.prefetch_related(found)]
    said: dict[Any, list[Row]] = {}
    session_id = None
    for _at, of, rows in sorted(lines, key=lambda line: line[0]):
        session_id = of or session_id  # what was called to mind elsewhere stands with what was said before it
        said.setdefault(session_id, []).extend(rows)
    return said


def _called(recall: Recall, uuids: dict[Any, str]) -> list[Row]:
    """The call of the tool, and its answer."""
    at, id = _milliseconds(recall.at), f"call_{recall.pk.hex}"
    arguments = orjson.dumps({"memoryDescription": recall.cue}).decode()
    call = {"id": id, "type": "function", "function": {"name": "get_memory", "arguments": arguments}}
    found = [
        {"uuid": uuids[one.memory_id], "similarity": one.score, "desc": one.memory.text}
        for one in recall.found.all()
        if one.memory_id in uuids
    ]
    content = "\n\n".join(str(one["desc"]) for one in found)
    return [
        {"role": "assistant", "content": "", "timestamp": at, "tool_calls": [call]},
        {"role": "tool", "content": content, "timestamp": at, "tool_call_id": id, "recall": found},
    ]


def _milliseconds(at: datetime) -> int:
    return (at - EPOCH) // timedelta(milliseconds=1)
