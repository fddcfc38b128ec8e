"""Deletion: handles what was derived from things that a person deletes, corrects or keeps from models.

scope    what is deleted, and whether a text tells of it
derived  what was derived from it: memories, slots and blocks, self-concept and profile, diary entries
sentences  taking single sentences out of these, by what they say

The caller locks the companion, afterwards deletes the memories that are returned, and scrubs what replies kept of them.
"""

from memory.deletion.derived import (
    Derived,
    conceal_derived,
    delete_memories,
    preview_derived,
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
    "preview_derived",
    "remove_corrected",
    "remove_derived",
]
