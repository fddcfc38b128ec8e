"""Consolidation: once a night, a model looks through what a companion has learnt, and the answer is applied by rules.

candidates  what is worth a look: near-duplicates, recurring terms, open goals and ideas
request     the request about them, and the form of the answer
agreement   whether two memories say the same, or contradict each other
insights    which insights may be kept, and what a second reading is asked about them
changes     applying the answer, with what undoing each change needs
runs        the job, found in the database: asking the model, and applying the answer in one transaction
undo        undoing one change, and settling a contradiction
"""
