import asyncio
import gzip
import json
import socket
from collections.abc import Callable
from typing import Any

import pytest
from aiohttp import web

from jobs.background import TASKS
from providers.chat.client import ChatClient, Timeouts
from providers.chat.events import Event, Piece, Retracted, Thought, ToolCall, Usage
from providers.errors import ModelLoading, ProviderRefused, ProviderUnavailable
from providers.http.clients import IDLE_SECONDS, aclose_clients, get_chat_client
from providers.http.sdk_errors import MAX_SHOWN_CHARACTERS
from providers.selection import get_provider
from providers.tokens import estimate_answer, estimate_messages
from tests.fixtures.model_servers import serve
from tests.fixtures.rehearsal import RehearsalServer

Make = Callable[..., ChatClient]
ASKED = [{"role": "user", "content": "How do rivers begin?"}]
TOOLS: list[dict[str, Any]] = [
    {"type": "function", "function": {"name": "remember", "parameters": {"type": "object"}}}
]


async def heard(chat: ChatClient, messages: list[dict[str, Any]] = ASKED, tools: Any = ()) -> list[Event]:
    return [event async for event in chat.stream(messages, tools)]


def text(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Piece))


def thoughts(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Thought))


def calls(events: list[Event]) -> list[ToolCall]:
    return [event for event in events if isinstance(event, ToolCall)]


def delta(change: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": change, "finish_reason": finish}]}


async def broken(
    chat: ChatClient, tools: Any = ()
) -> tuple[list[Event], ProviderUnavailable | ProviderRefused]:
    """What came before the failure, and the failure."""
    came: list[Event] = []
    try:
        async for event in chat.stream(ASKED, tools):
            came.append(event)
    except (ProviderUnavailable, ProviderRefused) as error:
        return came, error
    raise AssertionError(f"It did not fail: {came}")


async def test_pieces_come_in_order_and_usage_once_at_the_end(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script({"answer": "Springs feed them, and rain."})
    events = await heard(make_chat())
    assert text(events) == "Springs feed them, and rain."
    assert [event for event in events if isinstance(event, Usage)] == [events[-1]]


async def test_pieces_that_come_apart_stay_apart(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"pieces": ["Springs ", "feed ", "them."], "delay_between": 0.1})
    assert [event.text for event in await heard(make_chat()) if isinstance(event, Piece)] == [
        "Springs ",
        "feed ",
        "them.",
    ]


async def test_an_answer_that_comes_packed_is_unpacked(make_chat: Make) -> None:
    words = ("Springs ", "feed ", "them.")
    events = [json.dumps(delta({"content": word})).encode() for word in words]
    packed = gzip.compress(b"".join(b"data: %b\n\n" % event for event in [*events, b"[DONE]"]))
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Encoding: gzip\r\n"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(head + b"Content-Length: %d\r\n\r\n%b" % (len(packed), packed))
        await writer.drain()
        writer.close()  # leaving the block waits for this, from Python 3.12 on

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        host, port = server.sockets[0].getsockname()
        assert text(await heard(make_chat(f"http://{host}:{port}/v1"))) == "".join(words)


async def test_the_servers_own_usage_is_told(rehearsal: RehearsalServer, make_chat: Make) -> None:
    details = {"cached_tokens": 30}
    told = {"prompt_tokens": 41, "completion_tokens": 7, "prompt_tokens_details": details}
    rehearsal.script({"answer": "Yes.", "usage": told})
    assert (await heard(make_chat()))[-1] == Usage(41, 7, cached_tokens=30, is_estimated=False)


@pytest.mark.parametrize("usage", [False, None])
async def test_usage_is_estimated_where_the_server_sends_none(
    rehearsal: RehearsalServer, make_chat: Make, usage: Any
) -> None:
    rehearsal.script({"answer": "Springs feed them.", "thought": "Where from?", "usage": usage})
    expected = Usage(
        estimate_messages(ASKED), estimate_answer("Springs feed them.", "Where from?"), is_estimated=True
    )
    assert (await heard(make_chat()))[-1] == expected


async def test_the_rehearsals_own_count_is_what_is_told(rehearsal: RehearsalServer, make_chat: Make) -> None:
    usage = (await heard(make_chat(), tools=TOOLS))[-1]
    assert isinstance(usage, Usage)
    entry = rehearsal.ledger()[-1]
    assert (usage.prompt_tokens, usage.completion_tokens) == (
        entry["prompt_tokens"],
        entry["completion_tokens"],
    )
    assert not usage.is_estimated
    assert usage.prompt_tokens > 0 < usage.completion_tokens


async def test_odd_but_harmless_events_are_passed_over(rehearsal: RehearsalServer, make_chat: Make) -> None:
    events = [
        ": keep-alive\n\n",
        "event: ping\r\n\r\n",
        {"choices": []},
        {"object": "chat.completion.chunk"},
        {"choices": [{"index": 0, "delta": None}]},
        {"choices": [{"index": 0}]},
        delta({"role": "assistant"}),
        delta({}),
        delta({"content": None}),
        'data:{"choices":[{"delta":{"content":"Here"}}]}\r\n\r\n',
        delta({"content": [{"type": "text", "text": " it is"}]}),
        delta({"content": ""}, "stop"),
        "data: [DONE]",
    ]
    rehearsal.script({"events": events})
    assert text(await heard(make_chat())) == "Here it is"


async def test_a_stream_without_done_is_whole_with_a_finish_reason(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script({"events": [delta({"content": "All of it"}), delta({}, "stop")]})
    assert text(await heard(make_chat())) == "All of it"


async def test_a_server_that_does_not_stream_is_understood(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    message = {"role": "assistant", "content": "All at once", "reasoning_content": "Hm."}
    body = {"choices": [{"message": message, "finish_reason": "stop"}], "usage": None}
    rehearsal.script({"error": {"status": 200, "body": body}})
    events = await heard(make_chat())
    assert (text(events), thoughts(events)) == ("All at once", "Hm.")


async def test_a_model_that_is_being_loaded_is_waited_for(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    loading = {"status": 503, "body": {"error": {"message": "Loading model", "code": 503}}}
    rehearsal.script({"error": loading, "repeat": 2}, {"answer": "I am here."})
    assert text(await heard(make_chat())) == "I am here."
    rehearsal.script({"error": loading, "repeat": 9})
    with pytest.raises(ModelLoading):
        await heard(make_chat(first_piece_seconds=1.5))


async def test_tool_calls_are_put_together_from_their_pieces(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    arguments = [{"text": "She sings in a choir on Mondays"}, {"text": "他怕打雷"}]
    wanted = [
        {"id": f"call_{at}", "name": "remember", "arguments": given} for at, given in enumerate(arguments)
    ]
    rehearsal.script({"tool_calls": wanted})
    found = calls(await heard(make_chat(), tools=TOOLS))
    assert [(call.id, call.name, json.loads(call.arguments)) for call in found] == [
        ("call_0", "remember", arguments[0]),
        ("call_1", "remember", arguments[1]),
    ]


def change(
    index: int | None = None, id_: str | None = None, name: str | None = None, arguments: Any = None
) -> Any:
    function = {"name": name, "arguments": arguments}
    return {"index": index, "id": id_, "function": {key: value for key, value in function.items() if value}}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([change(None, "a", "x", "{}"), change(None, "b", "y", "{}")], [("x", "{}"), ("y", "{}")]),
        ([change(0, "a", "x", "{}"), change(0, "b", "y", "{}")], [("x", "{}"), ("y", "{}")]),
        ([change(None, None, "x", '{"a"'), change(None, None, None, ":1}")], [("x", '{"a":1}')]),
        ([change(0, None, "x", '{"a"'), change(0, "", "", ":1}")], [("x", '{"a":1}')]),
        ([change(0, "a", "x", '{"a"'), change(0, "a", "x", ":1}")], [("x", '{"a":1}')]),
        ([change(1, "b", "y"), change(0, "a", "x"), change(1, None, None, "[]")], [("y", "[]"), ("x", "{}")]),
        ([change(0, "a", "x", {"a": 1})], [("x", '{"a": 1}')]),
    ],
    ids=[
        "whole",
        "whole, same index",
        "no index, no id",
        "no id",
        "id and name again",
        "interleaved",
        "object",
    ],
)
async def test_odd_tool_calls_are_understood(
    rehearsal: RehearsalServer, make_chat: Make, changes: Any, expected: Any
) -> None:
    streamed = [delta({"tool_calls": [one]}) for one in changes]
    rehearsal.script({"events": [*streamed, delta({}, "tool_calls"), "data: [DONE]\n\n"]})
    found = calls(await heard(make_chat(), tools=TOOLS))
    assert [(call.name, call.arguments) for call in found] == expected
    assert len({call.id for call in found}) == len(found)
    assert all(call.id for call in found)


async def test_reasoning_is_kept_apart(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"thought": "They ask about rivers.", "answer": "From springs."})
    events = await heard(make_chat())
    assert (thoughts(events), text(events)) == ("They ask about rivers.", "From springs.")


@pytest.mark.parametrize("size", [1, 3, 100])
async def test_reasoning_in_tags_is_kept_apart_wherever_they_are_cut(
    rehearsal: RehearsalServer, make_chat: Make, size: int
) -> None:
    said = "\n<think>1 < 2, so </th is no tag</think>\n\nFrom <think> springs."
    rehearsal.script({"pieces": [said[at : at + size] for at in range(0, len(said), size)]})
    events = await heard(make_chat())
    assert (thoughts(events), text(events)) == ("1 < 2, so </th is no tag", "From <think> springs.")


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("<think>a<think>b</think>c</think>So.", ("abc", "So.")),
        ("<think>a<think>b</think>So.", ("abSo.", "So.")),
        ("<think>a, so", ("a, so", "")),
    ],
)
async def test_reasoning_within_reasoning_is_none_of_the_answer(
    rehearsal: RehearsalServer, make_chat: Make, said: str, expected: tuple[str, str], size: int
) -> None:
    rehearsal.script({"pieces": [said[at : at + size] for at in range(0, len(said), size)]})
    events = await heard(make_chat())
    assert (thoughts(events), text(events)) == expected


def spoken(events: list[Event]) -> tuple[str, str]:
    """The reasoning and the answer, as whoever follows the events has them in the end."""
    thought = answer = ""
    for event in events:
        if isinstance(event, Retracted):
            thought, answer = thought + answer, ""
        elif isinstance(event, Thought):
            thought += event.text
        elif isinstance(event, Piece):
            answer += event.text
    return thought, answer


@pytest.mark.parametrize("size", [1, 4, 100])
@pytest.mark.parametrize("end", ["\n</think>\n\n", "</think>\n", "\n</think>"])
async def test_reasoning_that_a_template_opened_is_taken_back_and_known_from_then_on(
    rehearsal: RehearsalServer, make_chat: Make, end: str, size: int
) -> None:
    said = f"They ask about rivers.{end}From springs."
    pieces = [said[at : at + size] for at in range(0, len(said), size)]
    tagged = {"answer": "<think>Hm.</think>Opened by itself."}
    rehearsal.script(
        {"pieces": pieces}, {"pieces": pieces}, tagged, {"answer": "Without."}, {"pieces": pieces}
    )
    chat = make_chat()
    events = [await heard(chat) for _ in range(5)]
    expected = (f"They ask about rivers.{end.partition('<')[0]}", "From springs.")
    assert spoken(events[0]) == spoken(events[1]) == spoken(events[4]) == expected
    assert [Retracted() in each for each in events] == [True, False, False, False, True]
    assert spoken(events[2]) == ("Hm.", "Opened by itself.")
    assert text(events[3]) == "Without."  # nothing closes it: it is the answer


async def test_what_is_cut_off_while_it_reasons_is_no_answer(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script(
        {"answer": "Hm.\n</think>\nYes."},
        {"answer": "Hm, hm", "finish_reason": "length"},
        {"answer": "Hm.</think>"},
    )
    chat = make_chat()
    assert [spoken(await heard(chat)) for _ in range(3)] == [("Hm.\n", "Yes."), ("Hm, hm", ""), ("Hm.", "")]


@pytest.mark.parametrize("size", [1, 100])
@pytest.mark.parametrize(
    "said",
    [
        "Hello </think> there",
        "```\nHm.\n</think>\n```",
        "It ends with `</think>`\n",
        "Hi <think>a\n</think>\nyou",
    ],
)
async def test_a_tag_in_the_middle_of_an_answer_takes_nothing_back(
    rehearsal: RehearsalServer, make_chat: Make, said: str, size: int
) -> None:
    rehearsal.script({"pieces": [said[at : at + size] for at in range(0, len(said), size)]})
    events = await heard(make_chat())
    assert (text(events), Retracted() in events) == (said, False)


async def test_an_answer_that_only_begins_like_a_tag_is_an_answer(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script({"pieces": ["<", "thi"]})
    assert text(await heard(make_chat())) == "<thi"


@pytest.mark.parametrize("part", ["tools", "stream_options"])
async def test_what_a_server_refuses_is_left_out_once_and_remembered(
    rehearsal: RehearsalServer, make_chat: Make, part: str
) -> None:
    rehearsal.script({"answer": "Without.", "refuses": [part], "repeat": 3})
    chat = make_chat()
    for _ in range(2):
        assert text(await heard(chat, tools=TOOLS)) == "Without."
    assert [part in request for request in rehearsal.requests()] == [True, False, False]


async def test_a_server_that_refuses_both_is_understood(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"answer": "Bare.", "refuses": ["tools", "stream_options"], "repeat": 3})
    assert text(await heard(make_chat(), tools=TOOLS)) == "Bare."


async def test_a_complaint_about_a_tool_message_does_not_take_the_tools_away(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    said = "messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
    rehearsal.script({"error": {"status": 400, "body": {"error": {"message": said}}}})
    _, error = await broken(make_chat(), TOOLS)
    assert isinstance(error, ProviderRefused)
    assert len(rehearsal.requests()) == 1


@pytest.mark.parametrize("how", ["cut_after", "end_after"])
async def test_a_cut_stream_is_told_after_its_pieces(
    rehearsal: RehearsalServer, make_chat: Make, how: str
) -> None:
    rehearsal.script({"answer": "one two three four", how: 2}, {"answer": "not asked for again"})
    events, error = await broken(make_chat(retries=2))
    assert text(events) == "one two"
    assert isinstance(error, ProviderUnavailable)
    assert error.usage == Usage(estimate_messages(ASKED), 2, is_estimated=True)
    assert len(rehearsal.requests()) == 1


async def test_an_error_inside_the_stream_is_told_with_its_words(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    failed = {"error": {"message": "The engine died.", "code": 500}}
    rehearsal.script({"events": [delta({"content": "So"}), failed]})
    events, error = await broken(make_chat())
    assert text(events) == "So"
    assert isinstance(error, ProviderUnavailable)
    assert error.said == "The engine died."


async def test_html_in_place_of_an_answer_is_unavailable(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"html": True})
    _, error = await broken(make_chat())
    assert isinstance(error, ProviderUnavailable)
    assert "Welcome to the proxy" in error.said


@pytest.mark.parametrize("said", [b"SSH-2.0-Growl\r\n\r\n", b"HTTP/1.1 400 Bad \xff\r\n\r\n"])
async def test_a_server_that_speaks_no_http_is_unavailable(make_chat: Make, said: bytes) -> None:
    async def growl(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(said)
        writer.close()

    server = await asyncio.start_server(growl, "127.0.0.1", 0)
    async with server:
        chat = make_chat(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
        _, error = await broken(chat)
        assert not await chat.is_up()
    assert isinstance(error, ProviderUnavailable)


async def test_broken_json_is_unavailable_and_tells_no_key(
    rehearsal: RehearsalServer, make_chat: Make, api_key: str
) -> None:
    rehearsal.script({"events": [f"data: {{nonsense {api_key}\n\n"]})
    _, error = await broken(make_chat())
    assert isinstance(error, ProviderUnavailable)
    assert "{nonsense" in error.said
    assert api_key not in f"{error.said} {error}"


@pytest.mark.parametrize("kind", ["text/event-stream", "text/html", "application/json"])
@pytest.mark.parametrize("begin", ["{nonsense ", '{"choices": ["', '{"said": "'])
async def test_no_half_of_a_key_is_told_where_the_words_are_cut(
    make_chat: Make, api_key: str, begin: str, kind: str
) -> None:
    async def answer(_request: web.Request) -> web.Response:
        line = f'{begin.ljust(MAX_SHOWN_CHARACTERS - 10, "x")}{api_key}"' + ("]}" if "[" in begin else "}")
        return web.Response(text=f"data: {line}\n\n" if "stream" in kind else line, content_type=kind)

    with serve({"/v1/chat/completions": answer}) as url:
        _, error = await broken(make_chat(f"{url}/v1"))
    assert api_key[:8] not in f"{error.said} {error}"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, ProviderRefused),
        (401, ProviderRefused),
        (403, ProviderRefused),
        (404, ProviderRefused),
        (413, ProviderRefused),
        (408, ProviderUnavailable),
        (429, ProviderUnavailable),
        (500, ProviderUnavailable),
        (503, ProviderUnavailable),
    ],
)
async def test_a_status_says_whether_later_may_help_and_the_words_are_kept(
    rehearsal: RehearsalServer, make_chat: Make, status: int, kind: type
) -> None:
    body = {"error": {"message": "Your words were 9,000 tokens too long."}}
    rehearsal.script({"error": {"status": status, "body": body}})
    _, error = await broken(make_chat())
    assert type(error) is kind
    assert (error.said, error.status) == ("Your words were 9,000 tokens too long.", status)
    assert error.code in {"provider_unavailable", "provider_refused"}
    assert str(error.sentence)


@pytest.mark.parametrize("body", [{"detail": "Gone fishing"}, {"message": "Gone fishing"}, "Gone fishing"])
async def test_words_are_found_in_any_form_of_error(
    rehearsal: RehearsalServer, make_chat: Make, body: Any
) -> None:
    rehearsal.script({"error": {"status": 422, "body": body}})
    assert (await broken(make_chat()))[1].said == "Gone fishing"


async def test_the_key_is_never_in_the_words_and_they_are_bounded(
    rehearsal: RehearsalServer, make_chat: Make, api_key: str
) -> None:
    said = f"Wrong key {api_key}, or sk-other0123456789, in Bearer {api_key} " + "x" * 9000
    rehearsal.script({"error": {"status": 401, "body": {"error": {"message": said}}}})
    _, error = await broken(make_chat())
    assert error.said.startswith("Wrong key …")
    assert api_key not in error.said
    assert "sk-other" not in error.said
    assert len(error.said) <= 2000


async def test_retries_end_with_an_answer(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"error": {"status": 503}}, {"cut_after": 0, "answer": "x"}, {"answer": "Third time."})
    assert text(await heard(make_chat(retries=2))) == "Third time."
    assert len(rehearsal.requests()) == 3


async def test_a_crash_stays_one_while_the_server_starts_again(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script({"cut_after": 0}, {"error": {"status": 503}, "repeat": 2})
    _, error = await broken(make_chat(retries=2))
    assert (error.status, error.is_broken_off) == (503, True)
    rehearsal.script({"error": {"status": 503}, "repeat": 3})
    assert not (await broken(make_chat(retries=2)))[1].is_broken_off


async def test_retries_are_bounded(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"error": {"status": 503}, "repeat": 9})
    await broken(make_chat(retries=2))
    assert len(rehearsal.requests()) == 3


async def test_a_refusal_is_not_retried(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"error": {"status": 400}, "repeat": 9})
    await broken(make_chat(retries=2))
    assert len(rehearsal.requests()) == 1


async def test_a_provider_that_asks_for_a_long_wait_is_not_pressed(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script({"error": {"status": 429, "headers": {"Retry-After": "60"}}, "repeat": 9})
    _, error = await broken(make_chat(retries=2))
    assert isinstance(error, ProviderUnavailable)
    assert len(rehearsal.requests()) == 1


async def test_an_address_where_nothing_listens_is_unavailable(make_chat: Make) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    chat = make_chat(f"http://127.0.0.1:{port}/v1")
    _, error = await broken(chat)
    assert isinstance(error, ProviderUnavailable)
    assert not await chat.is_up()


async def test_a_connection_that_is_not_taken_times_out(make_chat: Make) -> None:
    with (
        socket.create_server(("127.0.0.1", 0), backlog=0) as deaf,
        socket.socket() as waiting,
        socket.socket() as late,
    ):
        for full in (waiting, late):
            full.setblocking(False)
            full.connect_ex(deaf.getsockname())
        _, error = await broken(
            make_chat(f"http://127.0.0.1:{deaf.getsockname()[1]}/v1", connect_seconds=0.3)
        )
        assert isinstance(error, ProviderUnavailable)
        assert "ConnectTimeout" in error.said


@pytest.mark.parametrize("how", [{"delay": 9.0}, {"hang_after": 0}])
async def test_a_late_first_piece_times_out_and_is_not_waited_for_twice(
    rehearsal: RehearsalServer, make_chat: Make, how: dict[str, Any]
) -> None:
    rehearsal.script({"answer": "one two", **how, "repeat": 3})
    _, error = await broken(make_chat(first_piece_seconds=0.3, retries=2))
    assert isinstance(error, ProviderUnavailable)
    assert "first piece" in error.said
    assert len(rehearsal.requests()) == 1


async def test_silence_after_a_piece_times_out(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"answer": "one two three", "hang_after": 2})
    events, error = await broken(make_chat(silence_seconds=0.3))
    assert text(events) == "one two"
    assert isinstance(error, ProviderUnavailable)
    assert "silent" in error.said


async def test_a_slow_listener_is_not_the_servers_silence(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script({"answer": "one two three", "delay_between": 0.1})
    came = []
    async for event in make_chat(silence_seconds=0.2).stream(ASKED):
        came.append(event)
        await asyncio.sleep(0.3)
    assert text(came) == "one two three"


async def test_stopping_early_ends_the_request(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"answer": "word " * 100, "delay_between": 0.02})
    stream = make_chat().stream(ASKED)
    assert await anext(stream) == Piece("word")
    await stream.aclose()
    async with asyncio.timeout(3):
        while rehearsal.ledger()[-1]["completion_tokens"] == 0:
            await asyncio.sleep(0.02)
    assert rehearsal.ledger()[-1]["completion_tokens"] < 100


async def test_connections_are_used_again(rehearsal: RehearsalServer, make_chat: Make) -> None:
    chat = make_chat()
    for _ in range(3):
        await heard(chat)
    assert len({call["peer_port"] for call in rehearsal.ledger()}) == 1


async def test_a_connection_that_ends_late_is_used_again(rehearsal: RehearsalServer, make_chat: Make) -> None:
    events = [delta({"content": "Yes."}, "stop"), "data: [DONE]\n\n"]
    rehearsal.script({"events": events, "delay_between": 0.03, "repeat": 2})
    chat = make_chat()
    for _ in range(2):
        assert text(await heard(chat)) == "Yes."
    assert len({call["peer_port"] for call in rehearsal.ledger()}) == 1


async def test_no_address_is_unavailable_and_goes_nowhere_else() -> None:
    settled = ChatClient("", "", "m", Timeouts(1.0, 1.0, 1.0, retries=0))
    _, error = await broken(settled)
    assert isinstance(error, ProviderUnavailable)
    assert not await settled.is_up()
    await settled.aclose()


async def test_a_loop_has_one_client_of_a_provider(rehearsal: RehearsalServer, settings: Any) -> None:
    settings.CHAT = {"base_url": rehearsal.url, "api_key": "", "model": "rehearsal", "is_rehearsal": True}
    settings.CHAT_TIMEOUTS = {"connect_seconds": 5.0, "first_piece_seconds": 60.0, "silence_seconds": 30.0}
    settings.CHAT_RETRIES = 2
    first = get_chat_client(get_provider())
    assert get_chat_client(get_provider()) is first
    assert await first.is_up()
    assert text(await heard(first))
    await aclose_clients()
    assert get_chat_client(get_provider()) is not first
    await aclose_clients()


async def test_a_key_is_not_taken_to_where_a_server_sends(
    rehearsal: RehearsalServer, make_chat: Callable[..., ChatClient]
) -> None:
    elsewhere = {"Location": f"{rehearsal.url}/chat/completions"}
    rehearsal.script({"error": {"status": 307, "body": "Over there", "headers": elsewhere}})
    _, error = await broken(make_chat())
    assert isinstance(error, ProviderRefused)
    assert error.status == 307
    assert len(rehearsal.requests()) == 1


async def test_no_more_of_an_error_is_read_than_is_shown(make_chat: Make) -> None:
    """The server never ends its error, and would fill the memory."""
    sent = 0

    async def flood(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse(status=400)
        await response.prepare(request)
        while sent < 50_000_000:
            await response.write(b"overloaded " * 1000)
            sent += 11_000
        return response

    with serve({"/v1/chat/completions": flood}) as address:
        _, error = await broken(make_chat(f"{address}/v1", first_piece_seconds=30.0))
    assert error.said.startswith("overloaded overloaded")
    assert sent < 20_000_000


async def test_clients_that_nobody_asks_for_are_closed(rehearsal: RehearsalServer, settings: Any) -> None:
    now = 100.0
    settings.CHAT = {"base_url": rehearsal.url, "api_key": "old", "model": "rehearsal", "is_rehearsal": True}
    before = get_chat_client(get_provider(), lambda: now)
    settings.CHAT = settings.CHAT | {"api_key": "new"}
    get_chat_client(get_provider(), lambda: now)
    assert await before.is_up()  # a reply may still be coming from it
    now += IDLE_SECONDS + 1
    settings.CHAT = settings.CHAT | {"api_key": "newest"}
    get_chat_client(get_provider(), lambda: now)
    await asyncio.gather(*TASKS)
    with pytest.raises(RuntimeError, match="closed"):
        await before.is_up()
    await aclose_clients()
