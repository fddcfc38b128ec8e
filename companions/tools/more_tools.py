"""The tool `more_tools`: a few tools are offered in every turn, the other groups once the model asks for them."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import WithJsonSchema

from companions.models import Session
from companions.tools.tool import Tool, ToolContext

GroupName = Literal["search", "notes", "timers"]
GROUPS: dict[str, tuple[str, ...]] = {
    "search": ("search_conversation", "look_up"),
    "notes": ("block_append", "block_replace", "note"),
    "timers": ("list_timers", "cancel_timer"),
}
Group = Annotated[GroupName, WithJsonSchema({"type": "string", "enum": list(GROUPS)})]


class MoreTools(Tool):
    """Get more tools: search (what was said word for word, diary, documents), notes (write on blocks, note for this
    talk), timers (list, cancel).
    """

    name = "more_tools"
    writes = True

    group: Group

    def run(self, context: ToolContext, now: datetime) -> dict[str, Any]:
        """Offer the group for the rest of the session; for a waking, `find_asked_groups` reads it from its steps."""
        if context.message:
            session = Session.objects.get(pk=context.message.session_id)
            if self.group not in session.tool_groups:
                session.tool_groups.append(self.group)
                session.save(update_fields=["tool_groups"])
            context.message.session = session
        return {"group": self.group, "you_may_call_now": list(GROUPS[self.group])}


TOOLS: list[type[Tool]] = [MoreTools]


def find_asked_groups(steps: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return the groups that a waking's steps have asked for, in order."""
    results = (step["result"] for step in steps if step["name"] == MoreTools.name)
    return list(dict.fromkeys(result["group"] for result in results if "error" not in result))
