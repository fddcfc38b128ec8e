"""Deleting for good: what a person deletes is gone from every table, from Redis, and from every later prompt.

deletion    messages, memories, a companion, and all that the rehearsal model wrote
withdrawal  what was drawn from it: learnt, written into the diary, summed up; timers, wakings, inner states, reminders
traces      what turns have kept of it: prompts as sent, cues, tools' arguments, reasoning, the provider's words

A reply under way that was shown it ends, `interrupted`: what its process holds in its hands could otherwise come back.
Whatever writes such things holds the companion's row meanwhile. What has gone out by e-mail or as a notification is out
of reach; what is still on its way is dropped.
"""

from companions.deletion.deletion import (
    MAX_AT_ONCE,
    SUMMARIES,
    delete_companion,
    delete_message,
    delete_messages,
    delete_rehearsed,
    forget,
    forget_every,
    forget_gists,
    forget_many,
    forget_newest,
)
from companions.deletion.withdrawal import reminders_of

__all__ = [
    "MAX_AT_ONCE",
    "SUMMARIES",
    "delete_companion",
    "delete_message",
    "delete_messages",
    "delete_rehearsed",
    "forget",
    "forget_every",
    "forget_gists",
    "forget_many",
    "forget_newest",
    "reminders_of",
]
