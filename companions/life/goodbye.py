"""Goodbyes: whether the last thing that a person said asks for quiet, and for how long. Pure."""

import re
from enum import Enum


class Goodbye(Enum):
    """A goodbye for today, or one until the person writes again."""

    TODAY = "today"
    LASTING = "lasting"


# What asks to be left alone, wherever it stands in the message.
LASTING = re.compile(
    r"(?i)\b(?:stop|quit|no more|never|don'?t|do not|please stop)\s+(?:ever\s+)?"
    r"(?:writ\w*|messag\w*|text\w*|contact\w*|bother\w*|ping\w*|remind\w*|call\w*)\s+(?:to\s+)?(?:me|us)\b"
    r"|\b(?:stop|no more)\s+(?:with\s+)?(?:your\s+|the\s+|these\s+)?(?:messages|notifications|reminders|texts)\b"
    r"|\bleave me (?:alone|be|in peace)\b|\b(?:goodbye|farewell)\s+(?:for ?ever|for good)\b"
    r"|\bi(?:'m| am) (?:leaving|done|going) (?:for good|for ?ever)\b|\bi(?:'m| am) done with (?:this|you)\b"
    r"|(?:别|不要|不用|请勿|请不要|别再|不要再)(?:再)?(?:给我|跟我|来|主动)?(?:发(?:消息|信息|短信)|联系我|打扰我|找我|烦我|提醒我)"
    r"|让我(?:一个人)?(?:静静|安静)|别(?:来)?烦我|永别|再也不(?:来|用|聊|见)|后会无期"
)
# What ends a talk for now, where the message is short or ends with it.
TODAY = re.compile(
    r"(?i)\b(?:good\s?bye|bye(?:\s?-?\s?bye)?|good\s?night|nighty?|farewell|see (?:you|ya)|ttyl"
    r"|talk (?:to you )?(?:later|soon|tomorrow)|(?:off|going|heading|gotta go) to (?:bed|sleep)"
    r"|gotta (?:go|run)|have to go|take care|sleep well)\b"
    r"|再见|拜拜|晚安|回头聊|下次聊|明天(?:聊|见)|先(?:走|下|睡|去睡|这样)了?|睡了|我去睡|回见|告辞"
)
SHORT = 60  # characters


def goodbye(text: str) -> Goodbye | None:
    """Which goodbye the message is; None where it is none. What is quoted in a long message counts only at its end."""
    if LASTING.search(text):
        return Goodbye.LASTING
    found = list(TODAY.finditer(text))
    if found and (len(text) <= SHORT or found[-1].end() >= len(text.rstrip()) - SHORT // 2):
        return None if text.rstrip().endswith(("?", "？")) else Goodbye.TODAY
    return None
