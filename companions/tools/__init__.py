"""The tools that a model may call: a module for each subject, and one registry of them all."""

from companions.tools.bounds import add_calls, cut_call
from companions.tools.registry import asks_model, call, get_offers, get_waking_offers

__all__ = ["add_calls", "asks_model", "call", "cut_call", "get_offers", "get_waking_offers"]
