"""Unlearning: what was drawn from things that a person deletes goes with them, or is left without them.

gone      what goes, and how it is told whether a text tells of it
learnt    memories that were learnt from it
sentences what a companion thinks of itself and knows of its user
diary     diary entries
always    slots and blocks
retold    what tells of it again, and comes from no message of it

Whoever calls holds the companion meanwhile, deletes afterwards what is named here, and scrubs what turns kept of it.
"""

from memory.unlearning.concealing import conceal
from memory.unlearning.gone import Gone
from memory.unlearning.retold import only_told, retold
from memory.unlearning.unlearn import Unlearnt, unlearn

__all__ = ["Gone", "Unlearnt", "conceal", "only_told", "retold", "unlearn"]
