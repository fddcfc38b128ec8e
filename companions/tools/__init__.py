"""The tools that a model may call: a file for each family, and one registry of them all."""

from companions.tools.registry import TOOLS, call, offered

__all__ = ["TOOLS", "call", "offered"]
