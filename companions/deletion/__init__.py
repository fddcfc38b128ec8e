"""Deleting for good: what a person deletes is gone from every table, from Redis, and from every later prompt.

messages   messages, with their memories and all that was drawn from them
memories   memories, one or many; the messages that they come from are hidden, or deleted too
everything a companion, and all that the rehearsal model wrote
derived    what was drawn from it: learnt, written into the diary, summed up, lived
lived      what of its life was made from it, however often that was drawn from again
withdrawing  how that is taken back: timers, wakings, inner states, pages of the diary
reminders  what was written unprompted because of it, which goes along
scrubbing  what turns have kept of it: prompts as sent, cues, tools' arguments, reasoning, the provider's words

A reply under way that was shown it ends, `interrupted`: what its process holds in its hands could otherwise come back.
Whatever writes such things holds the companion's row meanwhile. What has gone out by e-mail or as a notification is out
of reach; what is still on its way is dropped.
"""

from companions.deletion.everything import delete_companion, delete_rehearsed
from companions.deletion.memories import forget, forget_every, forget_gists, forget_many, forget_newest
from companions.deletion.messages import delete_message, delete_messages
from companions.deletion.reminders import reminders_of

__all__ = [
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
