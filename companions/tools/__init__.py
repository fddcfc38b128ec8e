"""The tools that a model may call.

tool        the base class, and the context in which a tool is called
subjects    the tools, a module for each subject
more_tools  the tool by which a model gets the tools that are not offered in every turn
registry    which tools are offered, how a call is carried out, and what people read of it
bounds      how long calls and results may be
own_words   whether the person asked for it
grounding   whether the companion was shown what it writes
provenance  what a tool has shown, and the messages behind what it stores
"""

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
