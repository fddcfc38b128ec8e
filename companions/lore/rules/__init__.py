"""The rules of lorebooks: which entries of all books a talk brings into a prompt. Pure, without a database.

books      an entry in the form of rules, read from its JSON (decorators: the rules in its text; entries: the form)
context    what a scan looks at: the talk, the persona, when entries fired before
scan       which entries of all books come in, in which order
matching   whether one entry is called for (keys: how its keys are searched)
selection  which of the matching entries come in: groups, chance, budget
"""
