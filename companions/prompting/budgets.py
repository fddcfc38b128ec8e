"""How much of what a model reads at once each part of a talk's prompt may take, in tokens.

The shares of lore and tools stand where these are chosen: in companions/lore/turn.py and companions/tools.
"""

from django.conf import settings

from providers.selection import get_provider

# Of the context, at most one part in so many.
EXAMPLES = 8
PERSON = 16
INNER_STATE = 20
SESSION_NOTES = 16  # the scratch, and the warning that the context is nearly full
ROOM_FOR_TALK = 8  # less is no room for a talk
FACTS_TOKENS = 200  # of the moment: the time, since when they talk
LAST_DIARY_TOKENS = 80  # of where the two left off
LAST_WORDS_TOKENS = 50  # of each of the last things said there


def share(parts: int) -> int:
    """Return one part in so many of the context."""
    return get_provider().context_tokens // parts


def talk_tokens(tool_tokens: int) -> int:
    """Return what is left for the rules, the persona and the talk beside offered tools of so many tokens.

    It is all but these, the answer, the facts of the moment, and a quarter for what is remembered and what tools give.
    """
    context = get_provider().context_tokens
    return context - context // 4 - int(settings.ANSWER_TOKENS) - tool_tokens - FACTS_TOKENS


def pinned_tokens(left: int) -> int:
    """Return what all that is always in mind may take where rules, persona, examples and person leave so many."""
    return max(left, 0) // 2


def memory_tokens() -> int:
    """Return what all that comes to mind may take: three sixteenths of the context."""
    return get_provider().context_tokens * 3 // 16


def one_memory_tokens() -> int:
    """Return what one memory may take; of a longer one its beginning is told."""
    return memory_tokens() // 4
