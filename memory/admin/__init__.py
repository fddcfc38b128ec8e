"""The admin of memory: read-only pages for operators, each view of which is audited."""

from memory.admin import consolidation, learning, memories, spaces

__all__ = ["consolidation", "learning", "memories", "spaces"]
