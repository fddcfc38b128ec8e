"""Consolidation: once a night, what a companion has learnt is looked through.

candidates  what is worth a look: what says nearly the same, what comes back, which goals and ideas are open; the request
agreement   whether two memories say the same, or one denies the other
insights    which insights may be kept, and what a second reading is asked about them
changes     the rows that come of the answer, and what it takes to undo them
runs        the job, found from rows: asking, and writing what comes of it in one transaction
undo        one change undone, a contradiction settled by the person
"""
