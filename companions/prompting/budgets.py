"""How much of the model's context each part of a talk's prompt may take, in tokens.

The shares of lore and tools are defined where these are chosen: in companions/lore/turn.py and companions/tools.
"""

from providers.selection import get_provider

# For `share`: the part takes at most 1/N of the context.
EXAMPLES = 8
PERSON = 16
ATTACHED_TEXTS = 8
LONG_MESSAGE = 8  # of the history, where it does not fit in full
INNER_STATE = 20
SESSION_NOTES = 16  # the scratch, and the warning that the context is nearly full
ROOM_FOR_TALK = 8  # with less than this left, there is no room for a talk
FACTS_TOKENS = 200  # of the moment: the time, since when they talk
LAST_DIARY_TOKENS = 80  # of the newest diary entry, where the prompt tells how the last talk ended
LAST_WORDS_TOKENS = 50  # of each of the last messages quoted there


def share(parts: int) -> int:
    """Return 1/`parts` of the provider's context, in tokens."""
    return get_provider().context_tokens // parts


def talk_tokens(tool_tokens: int) -> int:
    """Return how many tokens are left for the rules, the persona and the talk.

    That is the context without the offered tools (`tool_tokens`), the answer, the facts of the moment, and the quarter
    reserved for recalled memories and tool results.
    """
    provider = get_provider()
    context = provider.context_tokens
    return context - context // 4 - provider.answer_tokens - tool_tokens - FACTS_TOKENS


def pinned_tokens(left: int) -> int:
    """Return how many tokens all that is always in mind may take of the `left` ones: half."""
    return max(left, 0) // 2


def memory_tokens() -> int:
    """Return how many tokens all recalled memories may take: three sixteenths of the context."""
    return get_provider().context_tokens * 3 // 16


def one_memory_tokens() -> int:
    """Return how many tokens one recalled memory may take; a longer one is cut."""
    return memory_tokens() // 4
