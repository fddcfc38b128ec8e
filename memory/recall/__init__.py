"""Recall: finds the memories that a cue brings to mind, and tells why.

query       what a cue asks for: terms, speaker, days, kind of answer
traits      the same of each text, read when it is saved
candidates  which memories take part, and how like the cue each is
relevance   how well each fits the cue
ranking     which may come unasked, and the best of them
recall      the whole way, from a cue to ranked memories with their reasons
origins     where they come from, so that no two say the same thing in one prompt
flashbacks  what comes to mind without a cue
novelty     which observations a companion does not know yet
"""
