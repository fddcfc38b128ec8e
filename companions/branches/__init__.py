"""Branches of a conversation, and how what is known follows the one that is chosen.

switching     going to another message: what was known there is known again, and nothing else
marks         after which message, or at which branch's end, a change was made
operations    saying something anew, parting from a message, naming, choosing, comparing and deleting branches
alternatives  the other things that were said in a message's place

A message is awake where it is on the chosen path, and asleep else; so is its memory. Triggers of the database write down
every other change of what a companion knows (what it learnt, its diary, its slots, how it feels, its timers) with the
message that the conversation ended with as it was made, with the branch where others follow that message, or with the
answer or waking that is under way. To go elsewhere undoes, the newest first, what was made after
messages that are left, and redoes what was made after messages that are come to: what then stands in the tables is what
the path alone would have made. Whoever reads or writes them needs to know nothing of branches.

What a person does on the pages and what is imported holds on every branch, and what is deleted comes back on none:
`database.journal` tells the triggers so.
"""
