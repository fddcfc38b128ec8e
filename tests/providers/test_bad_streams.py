"""What no server should send: events of wrong types, numbers that cannot be, lines and bodies without end."""

import asyncio
from typing import Any

import pytest

from providers.chat.events import Piece, ToolCall, Usage
from providers.chat.stream import MAX_LINE_BYTES
from providers.errors import ProviderUnavailable
from tests.fixtures.rehearsal import RehearsalServer
from tests.providers.test_chat import Make, broken, calls, delta, heard, text

NESTED = "[" * 1_000 + "]" * 1_000  # read as JSON, and too deep to be written


@pytest.mark.parametrize(
    "event",
    [
        {"choices": {"0": {"delta": {"content": "a"}}}},
        {"choices": ["a"]},
        {"choices": [{"delta": "a"}]},
        {"choices": [{"delta": {"content": ["a"]}}]},
        {"choices": [{"delta": {"tool_calls": ["a"]}}]},
        {"choices": [{"delta": {"tool_calls": [{"function": "a"}]}}]},
        {"choices": [], "usage": "much"},
        {"error": {"code": "9" * 5000, "message": "no"}},
        f"data: {'[' * 100_000}\n\n",
        f'data: {{"choices": [{NESTED}]}}\n\n',
        f'data: {{"error": {NESTED}}}\n\n',
        f'data: {{"choices": [{{"delta": {{"tool_calls": [{{"id": {NESTED}}}]}}}}]}}\n\n',
    ],
    ids=lambda event: str(event)[:50],
)
async def test_an_event_of_the_wrong_form_is_the_providers_failure(
    rehearsal: RehearsalServer, make_chat: Make, event: Any
) -> None:
    rehearsal.script({"events": [delta({"content": "So far"}), event]})
    came, error = await broken(make_chat())
    assert came == [Piece("So far")]
    assert isinstance(error, ProviderUnavailable)


@pytest.mark.parametrize("count", [-1, 2**40, "7", 1.5, [1]], ids=str)
async def test_tokens_that_cannot_be_are_estimated(
    rehearsal: RehearsalServer, make_chat: Make, count: Any
) -> None:
    rehearsal.script({"answer": "Yes.", "usage": {"prompt_tokens": count, "completion_tokens": 7}})
    *_, usage = await heard(make_chat())
    assert isinstance(usage, Usage)
    assert usage.is_estimated


async def test_names_and_refusals_of_other_types_become_text(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    change = {"index": 0, "id": 7, "function": {"name": {"a": 1}, "arguments": {"b": 2}}}
    rehearsal.script({"events": [delta({"refusal": 5, "tool_calls": [change]}, finish="stop")]})
    events = await heard(make_chat())
    assert text(events) == "5"
    assert calls(events) == [ToolCall("7", '{"a": 1}', '{"b": 2}')]


async def endless(line: bytes) -> tuple[str, asyncio.Server]:
    """The address of a server whose answers are these bytes, again and again; and the server, to be closed."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n")
        try:
            while True:
                writer.write(line)
                await writer.drain()
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    return f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", server


@pytest.mark.parametrize(
    ("line", "words"),
    [(b"a" * 65_536, "longer than"), (b": " + b"a" * 65_536 + b"\n", "more than")],
    ids=["a line", "a body"],
)
async def test_what_does_not_end_is_given_up(make_chat: Make, line: bytes, words: str) -> None:
    address, server = await endless(line)
    async with server:
        came, error = await broken(make_chat(address, first_piece_seconds=60))
    assert (came, words in error.said) == ([], True)


async def test_a_line_that_ends_late_is_given_up_too(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"events": [delta({"content": "So far"}), delta({"content": "a" * MAX_LINE_BYTES})]})
    came, error = await broken(make_chat())
    assert (came, "longer than" in error.said) == ([Piece("So far")], True)


async def test_parts_of_a_tool_call_are_no_silence(rehearsal: RehearsalServer, make_chat: Make) -> None:
    begun = {"index": 0, "id": "c", "function": {"name": "remember", "arguments": "["}}
    parts = [{"index": 0, "function": {"arguments": part}} for part in ("1", ",2", ",3", "]")]
    events = [delta({"tool_calls": [change]}) for change in (begun, *parts)]
    rehearsal.script(
        {"events": [delta({"content": "Yes."}), *events, delta({}, "tool_calls")], "delay_between": 0.4}
    )
    assert calls(await heard(make_chat(silence_seconds=1.0))) == [ToolCall("c", "remember", "[1,2,3]")]


async def test_events_that_say_nothing_are_silence(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script(
        {"events": [delta({"content": "So far"}), *[{} for _ in range(40)]], "delay_between": 0.1}
    )
    came, error = await broken(make_chat(silence_seconds=0.6))
    assert (came, "fell silent" in error.said) == ([Piece("So far")], True)
