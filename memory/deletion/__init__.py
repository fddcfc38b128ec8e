"""Deletion: what was drawn from things that a person deletes or corrects, or keeps from models, goes with them.

scope    what is deleted, and how it is seen that a text tells of it
derived  what was drawn from it: memories, slots and blocks, self-concept and profile, diary entries
sentences  single sentences of these, taken out by what they say

Whoever calls holds the companion meanwhile, deletes afterwards what is named here, and scrubs what turns kept of it.
"""

from memory.deletion.derived import (
    Derived,
    conceal_derived,
    delete_memories,
    remove_corrected,
    remove_derived,
)
from memory.deletion.scope import DeletionScope, find_restatements, find_unique_words

__all__ = [
    "DeletionScope",
    "Derived",
    "conceal_derived",
    "delete_memories",
    "find_restatements",
    "find_unique_words",
    "remove_corrected",
    "remove_derived",
]
