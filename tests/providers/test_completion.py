"""An answer with tools at hand comes whole and within bounds, or as an error of the provider's; all is counted."""

from typing import Any

import pytest
from asgiref.sync import async_to_sync

from config.health import run_checks
from providers.chat.completion import MAX_CHARACTERS, complete
from providers.chat.events import ToolCall
from providers.errors import (
    AnswerUnfinished,
    MalformedError,
    ProviderError,
    ProviderRefused,
    ProviderUnavailable,
)
from providers.selection import get_provider
from providers.tokens import metered
from tests.fixtures.rehearsal import RehearsalServer

MESSAGES = [{"role": "user", "content": "Shall I write?"}]
TOOLS = [{"type": "function", "function": {"name": "think", "parameters": {"type": "object"}}}]


@pytest.fixture
def rehearsal(server: RehearsalServer, settings: Any) -> RehearsalServer:
    """The chat model of the settings, asked once."""
    server.reset()
    settings.CHAT = {"base_url": server.url, "api_key": "", "model": "rehearsal", "is_rehearsal": True}
    settings.CHAT_TIMEOUTS = {"connect_seconds": 1.0, "first_piece_seconds": 60.0, "silence_seconds": 60.0}
    settings.CHAT_RETRIES = 0
    return server


def test_it_gives_what_is_said_and_thought_and_which_tools_are_called(rehearsal: RehearsalServer) -> None:
    calls = [{"id": "1", "name": "think", "arguments": {"text": "Hm."}}]
    rehearsal.script({"answer": "Let me see.", "thought": "Well", "tool_calls": calls})
    with metered() as counted:
        completion = complete(get_provider(), MESSAGES, TOOLS)
    assert (completion.text, completion.thought) == ("Let me see.", "Well")
    assert completion.calls == [ToolCall("1", "think", '{"text": "Hm."}')]
    (request,) = rehearsal.requests()
    assert (request["messages"], request["tools"]) == (MESSAGES, TOOLS)
    (call,) = counted
    assert (call.prompt_tokens, call.completion_tokens, call.error) == (
        completion.usage.prompt_tokens,
        completion.usage.completion_tokens,
        None,
    )
    assert call.prompt_tokens > 0


def test_without_tools_none_are_offered(rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": "Yes."})
    assert complete(get_provider(), MESSAGES).text == "Yes."
    assert "tools" not in rehearsal.requests()[0]


@pytest.mark.django_db(transaction=True)
def test_a_model_that_refused_its_last_request_is_not_told_to_be_well(
    rehearsal: RehearsalServer, settings: Any
) -> None:
    """Its /models answers all the same, as where a key has run out of money."""
    rehearsal.script({"error": {"status": 401}}, {"answer": "Yes."})
    with pytest.raises(ProviderRefused):
        complete(get_provider(), MESSAGES)
    assert async_to_sync(run_checks)()["chat"] == "degraded"
    assert complete(get_provider(), MESSAGES).text == "Yes."
    assert async_to_sync(run_checks)()["chat"] == "ok"


def test_of_a_flood_of_calls_the_first_are_given(rehearsal: RehearsalServer, settings: Any) -> None:
    calls = [{"id": f"{n}", "name": "think", "arguments": "nonsense"} for n in range(100)]
    rehearsal.script({"tool_calls": calls})
    given = complete(get_provider(), MESSAGES, TOOLS).calls
    assert [one.id for one in given] == [f"{n}" for n in range(settings.TOOL_CALLS)]
    assert given[0].arguments == "nonsense"


@pytest.mark.parametrize(
    ("step", "error"),
    [
        ({"html": True}, ProviderUnavailable),
        ({"cut_after": 1, "answer": "one two three"}, AnswerUnfinished),
        ({"error": {"status": 503}}, ProviderUnavailable),
        ({"error": {"status": 401}}, ProviderRefused),
        ({"pieces": ["word " * 1000] * (MAX_CHARACTERS // 4000)}, MalformedError),
    ],
    ids=["html", "cut", "down", "key", "endless"],
)
def test_what_is_no_answer_is_an_error_and_is_counted(
    rehearsal: RehearsalServer, step: dict[str, Any], error: type[ProviderError]
) -> None:
    rehearsal.script(step)
    with metered() as counted, pytest.raises(error):
        complete(get_provider(), MESSAGES, TOOLS)
    assert [type(one.error) for one in counted] == [error]
    assert len(rehearsal.requests()) == 1


def test_one_that_hangs_is_left_when_its_time_is_up(rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": "one two", "hang_after": 1})
    with pytest.raises(ProviderUnavailable, match=r"within 0\.5 s"):
        complete(get_provider(), MESSAGES, TOOLS, timeout_seconds=0.5)


def test_a_server_that_knows_no_tools_is_asked_without(rehearsal: RehearsalServer) -> None:
    rehearsal.script({"refuses": ["tools"]}, {"answer": "Yes."})
    assert complete(get_provider(), MESSAGES, TOOLS).text == "Yes."


async def test_whoever_stands_in_an_event_loop_can_ask(rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": "Yes."})
    assert complete(get_provider(), MESSAGES).text == "Yes."
