"""Lore: which lorebook entries enter a prompt, where, and why; and how people edit their lorebooks.

On the way into a prompt:

turn         the lore of one turn: loads the books in use, scans them, records which entries fired
books        an entry in the form of rules, read from its JSON (decorators: the rules in its text; entries: the form)
context      what a scan looks at: the talk, the persona, when entries fired before
scan         which entries of all books come in, in which order
matching     whether one entry is called for (keys: how its keys are searched)
selection    which of the matching entries come in: groups, chance, budget
explanation  why an entry came in, or was left out

editing and quota are what people do with their books, and how much room these take.
"""
