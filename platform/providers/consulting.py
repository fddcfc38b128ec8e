"""An answer with tools at hand, for who waits for the whole of it."""

from dataclasses import dataclass

from django.conf import settings

from providers.chat import Messages
from providers.listening import MOST_SECONDS, listened
from providers.pieces import ToolCall, Usage


@dataclass(frozen=True, slots=True)
class Consulted:
    """What the model says in the end, what it thought, which tools it calls, and what that took."""

    text: str
    thought: str
    calls: list[ToolCall]
    usage: Usage


def consult(messages: Messages, tools: Messages = (), *, seconds: float = MOST_SECONDS) -> Consulted:
    """The model's answer to the messages; the calling thread waits for it. The call is noted for an open meter.

    Of the tool calls the first TOOL_CALLS are given, as the model wrote them. Raises ProviderUnavailable, also where the
    answer does not end in time, ProviderRefused, and MalformedError where it has no end.
    """
    with listened(messages, tools, seconds=seconds) as heard:
        calls = heard.calls[: settings.TOOL_CALLS]
        return Consulted(heard.text, heard.thought, calls, heard.spent(messages, tools, None))
