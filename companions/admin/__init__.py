"""Companions and what is said with them, for operators: read only but for deletion, all on record."""

from companions.admin import (
    archives,
    cards,
    companion,
    conversation,
    gallery,
    life,
    minds,
    pasts,
    person,
    reply,
)

__all__ = [
    "archives",
    "cards",
    "companion",
    "conversation",
    "gallery",
    "life",
    "minds",
    "pasts",
    "person",
    "reply",
]
