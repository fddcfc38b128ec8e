"""Companions and what is said with them, for operators: read only but for deletion, all on record."""

from companions.admin import companion, conversation, life, minds, person, reply

__all__ = ["companion", "conversation", "life", "minds", "person", "reply"]
