"""The tools `search_conversation` and `look_up`, which return messages, diary entries and documents' pages verbatim."""

from contextlib import suppress
from datetime import date, datetime, time, timedelta, tzinfo
from time import perf_counter
from typing import Annotated, Any, Self

from django.utils.translation import gettext_lazy as _
from pydantic import AfterValidator, AliasChoices, BeforeValidator, Field, ValidationInfo, model_validator

from companions.moments import FIRST_YEAR, LAST_YEAR
from companions.tools.bounds import count_tokens, count_tokens_left, take_fitting
from companions.tools.provenance import record_shown, render_originals
from companions.tools.subjects.documents import read_pages, search_gists
from companions.tools.tool import Tool, ToolContext, ToolError
from memory.documents.lookup import MAX_PAGES
from memory.models import DiaryEntry, Memory
from memory.recall.candidates import MemoryFilter
from memory.recall.origins import load_origins
from memory.recall.recall import Found, search
from text.dates import find_spans

MAX_FOUND = 20
MAX_MESSAGES = 200  # read at once of a diary entry's session
MAX_OTHERS = 19  # other diary entries of the day whose numbers are returned
MAX_DOCUMENTS = 50
YEAR = timedelta(days=365)


def _check_year(day: date | None) -> date | None:
    if day and not FIRST_YEAR <= day.year <= LAST_YEAR:
        raise ValueError(f"lies outside the years {FIRST_YEAR} to {LAST_YEAR}")
    return day


def _read_day(given: object, info: ValidationInfo) -> object:
    """Return the day that is meant by words such as "yesterday", "last Tuesday" or "Tue 5 May", as prompts name days.

    "Last week" has a first day for `since` and a last one for `until`, but is no `day`. Without a year, it is the past
    one. Raise ValueError if the words name none.
    """
    if not isinstance(given, str) or not info.context:
        return given
    with suppress(ValueError):
        return datetime.fromisoformat(given).date()
    now = info.context["now"].astimezone(info.context["user"].zone)
    today = now.date()
    spans = find_spans(given, now) or find_spans(f"on {given}", now)
    spans = [span for span in spans if today - YEAR < span[0] <= today] or spans[-1:]
    refusal = f"{given!r} names no day, write it as {today}"
    if not spans:
        raise ValueError(refusal)
    (first, first_end), (_last_begin, last) = min(spans), max(spans)
    if info.field_name == "day" and not first == first_end == last:
        raise ValueError(refusal)
    return last if info.field_name == "until" else first


Day = Annotated[date | None, BeforeValidator(_read_day), AfterValidator(_check_year)]


def _get_start(day: date | None, zone: tzinfo) -> datetime | None:
    return datetime.combine(day, time.min, zone) if day else None


def _get_end(day: date | None, zone: tzinfo) -> datetime | None:
    """Return the midnight after the day, or None for None."""
    return _get_start(day + timedelta(days=1), zone) if day else None


class SearchConversation(Tool):
    """Find what was said in any of your talks, word for word, by words, days, or both."""

    name = "search_conversation"
    under_way = _("%(name)s is looking through what was said")
    done = _("looked through what it remembers")

    words: str = Field("", max_length=500, validation_alias=AliasChoices("words", "text", "query"))
    since: Day = Field(None, description="First day.")
    until: Day = Field(None, description="Last day.")

    @model_validator(mode="after")
    def _asks_something(self) -> Self:
        if not (self.words.strip() or self.since or self.until):
            raise ValueError("give words or a day")
        if self.since and self.until and self.since > self.until:
            raise ValueError("since lies after until")
        return self

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        began, companion, zone = perf_counter(), context.companion, context.companion.user.zone
        filters = MemoryFilter(
            kinds=[Memory.Kind.SAID],
            since=_get_start(self.since, zone),
            until=_get_end(self.until, zone),
            leaving_out=[context.message.pk] if context.message else [],
        )
        said = Memory.objects.of(companion.pk).visible_to_models()
        if self.words.strip():
            said = said.filter(pk__in=search(companion.pk, self.words, filters, now, zone))
        else:
            said = filters.apply(said)
        count, newest = said.count(), list(said.newest(MAX_FOUND))
        lines = render_originals(newest, companion, load_origins(companion.pk, newest).played)
        given = take_fitting(lines, count_tokens_left(context))
        found = [Found(memory, 0.0, {}) for memory in newest[: len(given)]]
        record_shown(context, found, self.words, now, began)
        return {"messages": given, "older_ones_not_shown": count - len(given)}


class LookUp(Tool):
    """Read a diary entry's talk, or pages. Words of a question give gists to choose pages by; nothing, a list."""

    name = "look_up"
    asks_model = True
    under_way = _("%(name)s is looking something up in a document")
    done = _("looked something up in a document")

    words: str = Field(
        "", max_length=500, validation_alias=AliasChoices("words", "question", "text", "query")
    )
    day: Day = Field(None, description="Of the diary entry.")
    entry: int | None = Field(None, ge=1)
    document: str = Field(
        "", max_length=200, validation_alias=AliasChoices("document", "title"), description="Title."
    )
    pages: list[int] = Field([], max_length=MAX_PAGES)
    after: int = Field(0, ge=0, description="Messages or characters read already.")

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        if self.day or self.entry:
            return self._read_entry(context, now)
        if self.words.strip() and not self.pages:
            return search_gists(context, self.words, self.document, now)
        if self.document or self.pages:
            return read_pages(context, self.document, self.pages or [1], self.after, now)
        return _list_all(context)

    def _read_entry(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        began, zone = perf_counter(), context.companion.user.zone
        since, until = _get_start(self.day, zone), _get_end(self.day, zone)
        meant = [
            (number, entry)
            for number, entry in _number_entries(context)
            if number == self.entry
            or entry.get_day(zone) == self.day
            or (since and until and entry.started_at < until and entry.ended_at >= since)
        ]
        if not meant:
            raise ToolError("There is no such diary entry. Call look_up with nothing named for a list.")
        # Entries dated this day come first, before those that only extend into it.
        meant.sort(key=lambda numbered: numbered[1].get_day(zone) != self.day)
        number, entry = meant[0]
        said = (
            Memory.objects.of(context.companion.pk)
            .visible_to_models()
            .filter(message__session=entry.session_id)
        )
        rest = list(said.order_by("happened_at", "id")[self.after : self.after + MAX_MESSAGES])
        head = _render_entry(number, entry, zone)
        left = count_tokens_left(context) - count_tokens(head)
        given = take_fitting(render_originals(rest, context.companion), left)
        shown = [*([entry.memory] if entry.memory else []), *rest[: len(given)]]
        record_shown(context, [Found(memory, 0.0, {}) for memory in shown], entry.title, now, began)
        context.shown_ids.add(entry.pk)
        return {
            **head,
            "messages": given,
            "messages_in_all": said.count(),
            "other_entries_of_the_day": [number for number, _entry in meant[1 : 1 + MAX_OTHERS]],
        }


def _list_all(context: ToolContext) -> dict[str, Any]:
    """Return the newest diary entries and the documents, each list within half of the tokens left."""
    zone, half = context.companion.user.zone, count_tokens_left(context) // 2
    entries = [
        _render_entry(number, entry, zone) | {"text": entry.title}
        for number, entry in reversed(_number_entries(context))
    ]
    documents = context.companion.documents.filter(pages__number=1).order_by("-given_at")
    titles = [{"text": title} for title in documents.values_list("title", flat=True)[:MAX_DOCUMENTS]]
    return {
        "diary": [
            {name: entry[name] for name in ("entry", "from", "title")}
            for entry in take_fitting(entries, half)
        ],
        "documents": [title["text"] for title in take_fitting(titles, half)],
    }


def _number_entries(context: ToolContext) -> list[tuple[int, DiaryEntry]]:
    """Return the diary entries that models may read, oldest first, numbered from 1 among all entries."""
    mine = DiaryEntry.objects.filter(companion_id=context.companion.pk).select_related("memory")
    numbered = enumerate(mine.order_by("started_at", "id").defer("memory__entry"), start=1)
    return [(number, entry) for number, entry in numbered if not (entry.memory and entry.memory.is_private)]


def _render_entry(number: int, entry: DiaryEntry, zone: tzinfo) -> dict[str, Any]:
    return {"entry": number, "from": entry.get_day(zone).isoformat(), "title": entry.title}
