"""The tools that a model may call: a file for each family, and one registry of them all."""

from companions.tools.bounds import bounded
from companions.tools.registry import ASKING, TOOLS, call, offered, offered_in_wakings

__all__ = ["ASKING", "TOOLS", "bounded", "call", "offered", "offered_in_wakings"]
