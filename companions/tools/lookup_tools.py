"""The tools `search_conversation` and `look_up`: what was said, diary entries and pages, as they are."""

from datetime import date, datetime, time, timedelta, tzinfo
from time import perf_counter
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, Field, model_validator

from companions.moments import FIRST_YEAR, LAST_YEAR
from companions.tools.bounds import fitting, room, weight
from companions.tools.documents import by_number, by_question
from companions.tools.provenance import originals, show
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.documents.lookup import MAX_PAGES
from memory.models import DiaryEntry, Memory
from memory.models.memory import MemoryQuerySet
from memory.recall.candidates import MemoryFilter
from memory.recall.recall import Found, search, told


def _near(day: date) -> date:
    if not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"lies outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return day


Day = Annotated[date, AfterValidator(_near)]


def begins(day: date | None, zone: tzinfo) -> datetime | None:
    return datetime.combine(day, time.min, zone) if day else None


def ends(day: date | None, zone: tzinfo) -> datetime | None:
    """The first moment after the day."""
    return begins(day + timedelta(days=1), zone) if day else None


MOST_GIVEN = 20


class SearchIn(BaseModel):
    """Find what was said in any of your talks, word for word, by words, days, or both."""

    words: str = Field("", max_length=500)
    since: Day | None = Field(None, description="First day.")
    until: Day | None = Field(None, description="Last day.")

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not (self.words.strip() or self.since or self.until):
            raise ValueError("give words or a day")
        if self.since and self.until and self.since > self.until:
            raise ValueError("since lies after until")
        return self


def _search(context: ToolContext, arguments: SearchIn, now: datetime) -> dict[str, Any]:
    began, said = perf_counter(), _said(context, arguments, now)
    count, newest = said.count(), list(said.newest(MOST_GIVEN))
    given = fitting(originals(newest, context.companion), room(context))
    found = [Found(one, 0.0, {}) for one in newest[: len(given)]]
    show(context, found, arguments.words, now, began)
    return {"messages": given, "older_ones_not_shown": count - len(given)}


def _said(context: ToolContext, arguments: SearchIn, now: datetime) -> MemoryQuerySet:
    zone, mine = context.companion.user.zone, told(context.companion.pk)
    since, until = begins(arguments.since, zone), ends(arguments.until, zone)
    asked = [context.message.pk] if context.message else []
    filters = MemoryFilter(kinds=[Memory.Kind.SAID], since=since, until=until, leaving_out=asked)
    if not arguments.words.strip():
        return filters.apply(mine)
    return mine.filter(pk__in=search(context.companion.pk, arguments.words, filters, now, zone))


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


TOOLS = [Tool("search_conversation", SearchIn, _search), Tool("look_up", LookUpIn, _look_up)]
