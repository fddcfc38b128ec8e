"""The tool `look_up`: from a gist to what it stands for, a diary entry's talk or a document's page, as they are."""

from datetime import datetime
from time import perf_counter
from typing import Any

from pydantic import BaseModel, Field

from companions.tools.bounds import fitting, room, weight
from companions.tools.days import Day, begins, ends
from companions.tools.pages import by_number, by_question
from companions.tools.showing import originals, show
from companions.tools.tool import Tool, ToolError
from companions.tools.tool_context import ToolContext
from memory.documents.lookup import MAX_PAGES
from memory.models import DiaryEntry
from memory.recall.recall import Found, told


class LookUpIn(BaseModel):
    """Read a diary entry's talk, or pages. A question gives gists to choose pages by; nothing, a list."""

    question: str = Field("", max_length=500)
    day: Day | None = Field(None, description="Of the diary entry.")
    entry: int | None = Field(None, ge=1)
    document: str = Field("", max_length=200, description="Title.")
    pages: list[int] = Field([], max_length=MAX_PAGES)
    after: int = Field(0, ge=0, description="Messages or characters read already.")


def _look_up(context: ToolContext, arguments: LookUpIn, now: datetime) -> dict[str, Any]:
    if arguments.day or arguments.entry:
        return _entry(context, arguments, now)
    if arguments.question.strip() and not arguments.pages:
        return by_question(context, arguments.question, arguments.document, now)
    if arguments.document or arguments.pages:
        return by_number(context, arguments.document, arguments.pages or [1], arguments.after, now)
    return _list(context)


def _entries(context: ToolContext) -> list[tuple[int, DiaryEntry]]:
    """The diary that models may read, each entry with its number, the first being 1."""
    mine = DiaryEntry.objects.filter(companion_id=context.companion.pk).select_related("memory")
    numbered = enumerate(mine.order_by("started_at", "id").defer("memory__entry"), start=1)
    return [(n, one) for n, one in numbered if not (one.memory and one.memory.is_private)]


def _entry(context: ToolContext, arguments: LookUpIn, now: datetime) -> dict[str, Any]:
    began, zone = perf_counter(), context.companion.user.zone
    since, until = begins(arguments.day, zone), ends(arguments.day, zone)
    meant = [
        (n, one)
        for n, one in _entries(context)
        if n == arguments.entry or (since and until and one.started_at < until and one.ended_at >= since)
    ]
    if not meant:
        raise ToolError("There is no such diary entry. Call look_up with nothing named for a list.")
    number, entry = meant[0]
    said = told(context.companion.pk).filter(message__session=entry.session_id).order_by("happened_at", "id")
    rest = list(said[arguments.after : arguments.after + 200])
    head = _listed(number, entry, context)
    given = fitting(originals(rest, context.companion), room(context) - weight(head))
    shown = [*([entry.memory] if entry.memory else []), *rest[: len(given)]]
    show(context, [Found(one, 0.0, {}) for one in shown], entry.title, now, began)
    context.shown.add(entry.pk)
    return {
        **head,
        "messages": given,
        "messages_in_all": said.count(),
        "other_entries_of_the_day": [n for n, _one in meant[1:20]],
    }


def _list(context: ToolContext) -> dict[str, Any]:
    """The newest of the diary, and the documents, each within half of the room."""
    entries = [_listed(n, one, context) | {"text": one.title} for n, one in reversed(_entries(context))]
    kept = fitting(entries, room(context) // 2)
    documents = context.companion.documents.values("title", "pages__number").filter(pages__number=1)
    titles = [{"text": one["title"]} for one in documents.order_by("-given_at")[:50]]
    given = fitting(titles, room(context) // 2)
    return {
        "diary": [{name: one[name] for name in ("entry", "from", "title")} for one in kept],
        "documents": [one["text"] for one in given],
    }


def _listed(number: int, entry: DiaryEntry, context: ToolContext) -> dict[str, Any]:
    zone = context.companion.user.zone
    return {"entry": number, "from": f"{entry.started_at.astimezone(zone):%Y-%m-%d}", "title": entry.title}


TOOLS = [Tool("look_up", LookUpIn, _look_up)]
