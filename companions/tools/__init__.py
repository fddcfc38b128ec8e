"""The tools that a model may call: a module for each subject, and a registry of them all."""

from companions.tools.bounds import add_calls, cut_call
from companions.tools.more_tools import find_asked_groups
from companions.tools.registry import (
    asks_model,
    call,
    count_offered_tokens,
    get_offers,
)

__all__ = [
    "add_calls",
    "asks_model",
    "call",
    "count_offered_tokens",
    "cut_call",
    "find_asked_groups",
    "get_offers",
]
