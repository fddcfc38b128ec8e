"""Servers that refuse parts, orders and lengths, and what they are sent then."""

from collections.abc import Callable
from typing import Any

import pytest

from providers.chat.adaptation import arrange, merge_roles, shorten_history
from providers.chat.client import ROOM_SECONDS, ChatClient
from providers.chat.events import Event, Piece, Thought, Truncated
from providers.chat.sampling import Sampling
from providers.errors import AnswerWithheld, ContextTooLong, ProviderRefused
from providers.failures import Failure, classify
from providers.tokens import estimate_messages
from tests.fixtures.rehearsal import RehearsalServer

Make = Callable[..., ChatClient]
SAMPLING = Sampling(300, 0.8, 0.9, 0.1, 0.2, ("\nAna:", "<|im_end|>"), 0.8, 40, 0.05, 1.1, 7)
GREETED = [
    {"role": "system", "content": "You are Noor."},
    {"role": "assistant", "content": "Hello, I am Noor."},
    {"role": "user", "content": "One"},
    {"role": "user", "content": "Two"},
    {"role": "assistant", "content": "Yes."},
    {"role": "assistant", "content": "And?"},
    {"role": "user", "content": "Three"},
]


def said(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Piece))


async def ask(
    chat: ChatClient, messages: Any = GREETED, sampling: Sampling = SAMPLING, tools: Any = ()
) -> list[Event]:
    return [event async for event in chat.stream(messages, tools, sampling=sampling)]


def refusal(message: str, status: int = 400) -> dict[str, Any]:
    return {"error": {"status": status, "body": {"error": {"message": message}}}}


async def test_what_is_wanted_of_the_answer_is_sent(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"answer": "Yes."}, {"answer": "Yes."})
    await ask(make_chat())
    (sent,) = rehearsal.requests()
    assert {name: sent[name] for name in SAMPLING.as_fields()} == {
        "max_tokens": 300,
        "temperature": 0.8,
        "top_p": 0.9,
        "presence_penalty": 0.1,
        "frequency_penalty": 0.2,
        "stop": ["\nAna:", "<|im_end|>"],
        "dry_multiplier": 0.8,
        "dry_penalty_last_n": 2048,
        "dry_sequence_breakers": ['"'],
        "top_k": 40,
        "min_p": 0.05,
        "repetition_penalty": 1.1,
        "repeat_penalty": 1.1,
        "seed": 7,
    }
    await ask(make_chat(), sampling=Sampling(presence_penalty=0.0))
    assert not rehearsal.requests()[-1].keys() & SAMPLING.as_fields().keys()


@pytest.mark.parametrize("part", sorted(SAMPLING.as_fields().keys() - {"max_tokens"}))
async def test_a_part_that_a_server_refuses_is_left_out_from_then_on(
    rehearsal: RehearsalServer, make_chat: Make, part: str
) -> None:
    rehearsal.script({"answer": "Without.", "refuses": [part], "repeat": 3})
    chat = make_chat()
    for _twice in range(2):
        assert said(await ask(chat)) == "Without."
    assert [part in request for request in rehearsal.requests()] == [True, False, False]
    assert "max_tokens" in rehearsal.requests()[-1]


async def test_max_completion_tokens_take_the_place_of_max_tokens(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    words = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
    rehearsal.script(refusal(words), {"answer": "Yes."}, {"answer": "Again."})
    chat = make_chat()
    await ask(chat)
    await ask(chat)
    assert [request.get("max_completion_tokens") for request in rehearsal.requests()] == [None, 300, 300]
    assert ["max_tokens" in request for request in rehearsal.requests()] == [True, False, False]


ALTERNATING = [
    "Conversation roles must alternate user/assistant/user/assistant/...",
    "After the optional system message, conversation roles must alternate user and assistant",
    "messages: first message must use the user role",
    "The conversation must start with a user message",
    "Only one system message is allowed, at the beginning",
    "System message must be at the beginning.",
]


@pytest.mark.parametrize("words", ALTERNATING)
@pytest.mark.parametrize("status", [400, 500])
async def test_roles_alternate_where_a_server_wants_it(
    rehearsal: RehearsalServer, make_chat: Make, words: str, status: int
) -> None:
    rehearsal.script(refusal(words, status), {"answer": "Yes."}, {"answer": "Again."})
    chat = make_chat()
    assert said(await ask(chat)) == "Yes."
    assert said(await ask(chat)) == "Again."
    first, second, third = (request["messages"] for request in rehearsal.requests())
    assert first == GREETED
    assert [message["role"] for message in second] == ["system", "user", "assistant", "user"]
    assert "Hello, I am Noor." in second[0]["content"]
    assert second[1]["content"] == "One\n\nTwo"
    assert third == second


@pytest.mark.parametrize(
    "words",
    ["System role not supported", "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
     "Only user, assistant and tool roles are supported, got system.", "system messages are not allowed here"],
)  # fmt: skip
async def test_the_system_speaks_through_the_user_where_a_server_has_no_system(
    rehearsal: RehearsalServer, make_chat: Make, words: str
) -> None:
    rehearsal.script(refusal(words), {"answer": "Yes."})
    assert said(await ask(make_chat())) == "Yes."
    sent = rehearsal.requests()[-1]["messages"]
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert sent[0]["content"].startswith("You are Noor.")


def test_calls_of_tools_stay_apart() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    results = [{"role": "tool", "tool_call_id": "1", "content": "a"}, {"role": "tool", "content": "b"}]
    assert merge_roles([GREETED[2], call, *results]) == [GREETED[2], call, *results]
    assert list(arrange(GREETED, frozenset())) == GREETED


CALL = {"id": "1", "type": "function", "function": {"name": "recall", "arguments": "{}"}}
CALLED = [
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": "a"},
]
WITH_CALLS = [
    {"role": "system", "content": "You are Noor."},
    {"role": "user", "content": "One"},
    *CALLED,
    {"role": "assistant", "content": "Yes."},
    {"role": "user", "content": "Two"},
    *CALLED,
]


@pytest.mark.parametrize(
    "words",
    [ALTERNATING[0], "Tool call IDs should be alphanumeric strings with length 9!", "Unexpected role: tool",
     "An assistant message with 'tool_calls' must be followed by tool messages", "tools are not supported",
     "The toolConfig field must be defined when using toolUse and toolResult content blocks."],
)  # fmt: skip
async def test_calls_of_the_talk_before_go_where_a_server_does_not_take_them(
    rehearsal: RehearsalServer, make_chat: Make, words: str
) -> None:
    rehearsal.script(refusal(words), {"answer": "Yes."})
    offered = [{"type": "function", "function": {"name": "recall", "parameters": {}}}]
    assert said(await ask(make_chat(), WITH_CALLS, tools=offered)) == "Yes."
    roles = [message["role"] for message in rehearsal.requests()[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool"]


def test_what_a_tool_gave_goes_with_its_call() -> None:
    whole = estimate_messages(WITH_CALLS)
    shorter = [shorten_history(WITH_CALLS, (), tokens) or [] for tokens in range(1, whole)]
    assert {message["role"] for sent in shorter for message in sent[1:2]} == {"assistant", "user"}


LONG = [
    {"role": "system", "content": "You are Noor."},
    *(
        {"role": role, "content": f"{n} " + "word " * 100}
        for n in range(20)
        for role in ("user", "assistant")
    ),
    {"role": "user", "content": "And now?"},
]
TOO_LONG = [
    ("the request exceeds the available context size, try increasing it", 0),
    ("request (4100 tokens) exceeds the available context size (2048 tokens), try increasing it", 2048),
    ("This model's maximum context length is 2048 tokens. However, you requested 4400 tokens (4100 in the messages, "
     "300 in the completion). Please reduce the length of the messages or completion.", 2048),
    ("This model's maximum context length is 2,048 tokens and your request has 4100 input tokens", 2048),
    ("prompt is too long: 4100 tokens > 2048 maximum", 2048),
    ("Inputs validation error: `inputs` tokens + `max_new_tokens` must be <= 2048. Given: 4100 `inputs` tokens and "
     "300 `max_new_tokens`", 2048),
    ("input length exceeds the context length", 0),
    ("context_length_exceeded", 0),
]  # fmt: skip


@pytest.mark.parametrize(("words", "limit"), TOO_LONG)
async def test_a_prompt_that_is_too_long_is_sent_without_its_oldest(
    rehearsal: RehearsalServer, make_chat: Make, words: str, limit: int
) -> None:
    rehearsal.script(refusal(words), {"answer": "Yes."}, {"answer": "Again."})
    chat = make_chat()
    assert said(await ask(chat, LONG)) == "Yes."
    first, second = (request["messages"] for request in rehearsal.requests())
    assert (second[0], second[-1]) == (LONG[0], LONG[-1])
    assert second[1:] == first[-len(second) + 1 :]
    assert len(second) < len(first)
    if limit:
        assert estimate_messages(second) <= limit - 300
        assert estimate_messages(second) * 4100 / estimate_messages(first) <= limit - 300
    assert said(await ask(chat, LONG)) == "Again."
    assert len(rehearsal.requests()[-1]["messages"]) == len(second)


async def test_a_prompt_is_sent_whole_again_after_a_while(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    """The server may have been given a larger context, or another model; where it was not, it says so again."""
    small, large = TOO_LONG[1][0], TOO_LONG[1][0].replace("2048", "3000")
    answer = {"answer": "Yes."}
    rehearsal.script(refusal(small), answer, answer, refusal(large), answer, answer, answer)
    now = [1000.0]
    chat = make_chat(clock=lambda: now[0])
    for at in (1000.0, 1000.0 + ROOM_SECONDS - 1, 1000.0 + ROOM_SECONDS, 1001.0 + ROOM_SECONDS):
        now[0] = at
        await ask(chat, LONG)
    now[0] += ROOM_SECONDS
    await ask(chat, LONG)
    whole, first, second, probe, third, fourth, last = (
        len(request["messages"]) for request in rehearsal.requests()
    )
    assert whole == probe == last == len(LONG)
    assert first == second < third == fourth < whole


async def test_a_prompt_is_shortened_three_times_at_most(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script(refusal(TOO_LONG[0][0]) | {"repeat": 9})
    with pytest.raises(ContextTooLong, match="available context size"):
        await ask(make_chat(), LONG)
    lengths = [len(request["messages"]) for request in rehearsal.requests()]
    assert len(lengths) == 4
    assert lengths == sorted(set(lengths), reverse=True)


async def test_the_last_message_is_never_left_out(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script(refusal(TOO_LONG[0][0]) | {"repeat": 9})
    only = [LONG[0], {"role": "user", "content": "word " * 5000}]
    with pytest.raises(ContextTooLong):
        await ask(make_chat(), only)
    assert len(rehearsal.requests()) == 1
    assert shorten_history(only, (), 10) is None


async def test_the_answer_may_be_shorter_where_no_history_is_left(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    words = "This model's maximum context length is 2048 tokens and your request has 1900 input tokens"
    rehearsal.script(refusal(words), {"answer": "Yes."})
    assert said(await ask(make_chat(), [LONG[-1]])) == "Yes."
    assert rehearsal.requests()[-1]["max_tokens"] == 148


async def test_any_other_refusal_is_told_truly(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script(refusal("The model `noor` does not exist"))
    with pytest.raises(ProviderRefused, match="does not exist") as caught:
        await ask(make_chat())
    assert len(rehearsal.requests()) == 1
    assert "another way" not in str(caught.value.sentence)


@pytest.mark.parametrize(
    ("said", "failure"),
    [
        ("The model `noor` does not exist", Failure.MODEL),
        ("This model does not support image input.", Failure.REFUSED),
    ],
)
def test_a_model_that_cannot_do_something_is_not_called_unknown(said: str, failure: Failure) -> None:
    assert classify(ProviderRefused(said, status=400)) == failure


async def test_a_withheld_answer_is_told_as_such(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"answer": "", "finish_reason": "content_filter"})
    with pytest.raises(AnswerWithheld):
        await ask(make_chat())


async def test_an_answer_cut_at_its_limit_says_so(rehearsal: RehearsalServer, make_chat: Make) -> None:
    rehearsal.script({"answer": "Once upon", "finish_reason": "length"}, {"answer": "The end."})
    chat = make_chat()
    assert Truncated() in await ask(chat)
    assert Truncated() not in await ask(chat)


async def test_a_model_that_only_thinks_up_to_the_limit_has_none_next_time(
    rehearsal: RehearsalServer, make_chat: Make
) -> None:
    rehearsal.script({"answer": "", "thought": "Hm, hm", "finish_reason": "length"}, {"answer": "Yes."})
    chat = make_chat()
    thoughts = [event.text for event in await ask(chat) if isinstance(event, Thought)]
    assert "".join(thoughts) == "Hm, hm"  # it may come in pieces
    await ask(chat)
    assert ["max_tokens" in request for request in rehearsal.requests()] == [True, False]


def test_stop_strings_are_few_and_name_the_person() -> None:
    stop = Sampling.for_talk(["Ana\nMaria"]).stop
    assert stop[0] == "\nAna Maria:"
    assert len(stop) <= 4
    assert Sampling.for_talk(["A", ""]).stop[0] != "\nA:"
