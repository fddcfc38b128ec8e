"""The admin of companions and their conversations, for operators: read only except for deletion and a few actions.

Every look and every change is recorded in the audit log.
"""

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
