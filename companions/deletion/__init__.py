"""Permanent deletion: what a person deletes disappears from every table, from Redis, and from every later prompt.

deletion    entry points: delete messages, memories, a companion, or everything that the rehearsal model wrote
dependents  finds what was derived from it in the companion's life: timers, wakings, inner states, reminders
withdrawal  withdraws what was derived from it: learnt memories, diary, summaries, and those dependents
traces      copies that turns have kept: prompts as sent, cues, tool arguments, reasoning, the provider's words
gaps        message trees and branches, joined up where messages were deleted
repetition  deletes again what an older backup of the database has brought back

Each verb says how far it goes: to *delete* is to delete rows for good; to *forget* a memory is to delete it and to hide
the messages that it came from; to *hide* is to keep a message out of later prompts; to *conceal* is to make memories
private; to *withdraw* is to take deleted data out of what was derived from it; to *scrub* is to erase it in the copies
that turns have kept; to *clear* is to empty a text that can be written again, such as a summary.

A reply under way that was shown deleted data ends as `interrupted`, since its process could otherwise write that data
back. Whatever writes such data locks the companion's row meanwhile. E-mails and notifications that were sent are out of
reach; those that still wait to be sent are dropped.
"""

from companions.deletion.deletion import (
    MAX_AT_ONCE,
    delete_companion,
    delete_message,
    delete_messages,
    delete_rehearsed,
    forget,
    forget_every,
    forget_gists,
    forget_many,
)
from companions.deletion.dependents import reminders_of

__all__ = [
    "MAX_AT_ONCE",
    "delete_companion",
    "delete_message",
    "delete_messages",
    "delete_rehearsed",
    "forget",
    "forget_every",
    "forget_gists",
    "forget_many",
    "reminders_of",
]
