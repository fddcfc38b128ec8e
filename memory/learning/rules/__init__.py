"""Rules of what may be kept, whatever a model says, each without a model or database of its own.

evidence     what stops a fact, e.g. that no quote holds, or that a line is an echo; it calls the others
sincerity    whether a line is meant as it says
subjects     whether two texts are about the same
grounding    whether the names, numbers and days in a sentence are in what it comes from
secrets      what is never kept: passwords, keys, the numbers of cards
boilerplate  what models write in place of an answer: refusals, the request's words
"""
