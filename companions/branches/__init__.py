"""Branches of a conversation, and how a companion's knowledge follows the chosen one.

switching     move the conversation to another message, and restore what was known there
marks         the mark of each change: the message, or the end of a branch, that it was made after
operations    reword a message on a new branch, fork, name, choose, compare and delete branches
alternatives  the siblings of a message: other messages in the same place

A message on the chosen path is awake, any other is asleep, and so is its memory. Every other change of what a companion
knows (what it learnt, its diary, its slots, its inner state, its timers) is written to a journal by database triggers,
together with its mark: the message that the conversation ended with at the time, the conversation or branch if other
messages follow that one, or the reply or waking that was under way. Switching undoes, newest first, the changes whose
mark is left behind, and redoes those whose mark is reached. Afterwards the tables hold what the path alone would have
produced, so code that reads or writes them needs to know nothing of branches.

What a person changes on the pages and what is imported holds on every branch, and what is deleted comes back on none:
`database.journal` tells the triggers so.
"""
