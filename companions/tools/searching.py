"""The tool `search_conversation`: what was said, found by its words and days, as it was said."""

from datetime import datetime
from time import perf_counter
from typing import Any, Self

from pydantic import BaseModel, Field, model_validator

from companions.tools.bounds import fitting, room
from companions.tools.days import Day, begins, ends
from companions.tools.showing import originals, show
from companions.tools.tool import Tool
from companions.tools.tool_context import ToolContext
from memory.models import Memory
from memory.models.memory import MemoryQuerySet
from memory.recall.filters import MemoryFilter
from memory.recall.recall import Found, search, told

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


TOOLS = [Tool("search_conversation", SearchIn, _search)]
