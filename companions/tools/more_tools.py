"""The tool `more_tools`: a few tools are offered in every turn, the other groups once the model asks for them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple

from pydantic import Field

from companions.models import Session
from companions.tools.subjects.core_memory import AppendToBlock, Note, ReplaceInBlock
from companions.tools.subjects.lookup import LookUp, SearchConversation
from companions.tools.subjects.timers import CancelTimer, ListTimers
from companions.tools.tool import Tool, ToolContext, ToolError


class Group(NamedTuple):
    """A group of tools, and the words in which models are told of it."""

    description: str
    tools: list[type[Tool]]


GROUPS = {
    "search": Group("what was said word for word, diary, documents", [SearchConversation, LookUp]),
    "notes": Group("write on blocks, note for this talk", [AppendToBlock, ReplaceInBlock, Note]),
    "timers": Group("list, cancel", [ListTimers, CancelTimer]),
}


class MoreTools(Tool):
    __doc__ = (
        f"Get more tools: {', '.join(f'{name} ({group.description})' for name, group in GROUPS.items())}."
    )

    name = "more_tools"
    writes = True

    group: str = Field(json_schema_extra={"enum": [*GROUPS]})

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        """Offer the group for the rest of the session; for a waking, `find_asked_groups` reads it from its steps."""
        if self.group not in GROUPS:
            raise ToolError(f"There is no group {self.group!r}. There are: {', '.join(GROUPS)}.")
        if context.message:
            session = Session.objects.get(pk=context.message.session_id)
            if self.group not in session.tool_groups:
                session.tool_groups.append(self.group)
                session.save(update_fields=["tool_groups"])
            context.message.session = session
        return {"group": self.group, "you_may_call_now": [tool.name for tool in GROUPS[self.group].tools]}


def find_asked_groups(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the groups that a waking's steps have asked for, in order."""
    results = (step["result"] for step in steps if step["name"] == MoreTools.name)
    return list(dict.fromkeys(result["group"] for result in results if "error" not in result))
