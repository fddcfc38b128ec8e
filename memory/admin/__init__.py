"""Pages of memory for operators: read only, on record."""

from memory.admin import consolidation, core_memory, documents, learning, memories, spaces

__all__ = ["consolidation", "core_memory", "documents", "learning", "memories", "spaces"]
