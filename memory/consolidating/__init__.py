"""Consolidation: by night, what a companion has learnt is looked through once.

candidates  what is worth a look: what says nearly the same, what comes back, which goals and ideas are open
pairs       two that may say the same, or contradict each other
prompting   the one request about them
answers     what a model may answer, validated
agreeing    whether two memories may be one, or contradict each other
work        what was seen by its numbers, and what is done so far
applying    the rows, and what it takes to undo them: merging, insights, reviewing
drafting    asking, and writing what comes of it in one transaction
night       the job, found from rows
undoing     one change undone
settling    a contradiction settled by the person
"""
