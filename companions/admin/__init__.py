"""Companions and what is said with them, for operators: read only but for deletion, all on record."""

from companions.admin import cards, companion, conversation, gallery, life, minds, pasts, person, reply

__all__ = ["cards", "companion", "conversation", "gallery", "life", "minds", "pasts", "person", "reply"]
