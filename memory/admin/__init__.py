"""Pages of memory for operators: read only, on record."""

from memory.admin import consolidation, learning, memories, spaces

__all__ = ["consolidation", "learning", "memories", "spaces"]
