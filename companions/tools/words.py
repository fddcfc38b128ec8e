"""The texts by which people learn of tools: in the chat while a tool is used, and in the life log afterwards.

Each tool is in NOT_TOLD or in `describe_done`; those that a reply may call are in `describe_under_way`, too.
"""

from django.utils.translation import gettext as _

NOT_TOLD = {"more_tools", "think"}  # tools of which people are not told, as they change nothing


def describe_under_way(name: str) -> dict[str, str]:
    """Return by tool the text shown while the companion called `name` uses it, in the reader's language."""
    writes = _("%(name)s is updating what it always keeps in mind")
    words = {
        "recall": _("%(name)s is looking through what it remembers"),
        "search_conversation": _("%(name)s is looking through what was said"),
        "look_up": _("%(name)s is looking something up in a document"),
        "remember": _("%(name)s is keeping this in memory"),
        "forget": _("%(name)s is looking for what to forget"),
        "block_append": writes,
        "block_replace": writes,
        "note": _("%(name)s is noting something down"),
        "set_timer": _("%(name)s is setting a reminder"),
        "list_timers": _("%(name)s is looking at the reminders"),
        "cancel_timer": _("%(name)s is cancelling a reminder"),
    }
    return {tool: text % {"name": name} for tool, text in words.items()}


def describe_done() -> dict[str, str]:
    """Return by tool the text of what was done with it, in the reader's language, including tools of wakings only."""
    looked, wrote = _("looked through what it remembers"), _("updated what it always keeps in mind")
    return {
        "recall": looked,
        "search_conversation": looked,
        "look_up": _("looked something up in a document"),
        "remember": _("kept something in memory"),
        "revise": _("corrected a memory"),  # what `remember` was called before
        "forget": _("let a memory go"),
        "block_append": wrote,
        "block_replace": wrote,
        "note": _("noted something down"),
        "set_timer": _("set a timer"),
        "list_timers": _("looked at the timers"),
        "cancel_timer": _("cancelled a timer"),
        "feel": _("changed how it feels"),
        "write_diary": _("wrote a page in its diary"),
        "pursue": _("worked on a goal or an idea"),
    }
