"""What a model spills, in a talk: what is shown, what is kept, and what the model reads of it afterwards."""

import json
from typing import Any

import pytest

from accounts.models import ModelCall, User
from companions.answers.emotion_tags import without_tags
from companions.models import Companion, Message, Prompt, Reply
from jobs.background import in_thread
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.spilled import CALL, KEPT, SPILLED
from tests.fixtures.turns import Socket, connected, make_companion

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]
ENDINGS = ("reply.done", "reply.stopped", "reply.interrupted", "reply.failed", "error")
CALLS = {
    name: answer for name, (answer, _text) in SPILLED.items() if " call" in name and "broken" not in name
}
# One of each kind; that none is said or lost, wherever the stream cuts it, is tested where answers are cleaned.
SPOKEN = {
    name: SPILLED[name]
    for name in (
        *(
            "the person's name",
            "the person first",
            "a role in Chinese",
            "ChatML",
            "a time before its own name",
        ),
        *("what a tool gave at the end", "its own name twice", "its own header", "reasoning without an end"),
        *("reasoning within reasoning", "reasoning of Harmony", "a block", "a lone end of a block"),
        *("an emotion in brackets within", "half a token", "a broken call", "lines of the context"),
        "a loop of one letter",
    )
}
MEANT = {name: KEPT[name] for name in ("a letter that is quoted", "a table", "code", "a song", "a link")}
SHORT = 60  # an answer of no more letters comes letter by letter, a longer one by three


@pytest.fixture
def noor(alice: User, settings: Any) -> Companion:
    settings.MESSAGES_PER_MINUTE = 1000
    User.objects.filter(pk=alice.pk).update(name="Ana")
    alice.refresh_from_db()
    return make_companion(alice, name="Noor", persona="Noor is calm.")


async def say(socket: Socket, number: int, text: str = "Well?") -> list[dict[str, Any]]:
    await socket.send("message.send", text=text, client_id=str(number))
    return await socket.until(*ENDINGS, seconds=20)


def shown(frames: list[dict[str, Any]]) -> str:
    return "".join(frame["text"] for frame in frames if frame["type"] == "reply.piece")


async def test_nothing_that_is_spilled_is_shown_kept_or_read_again(
    alice: User, noor: Companion, rehearsal: RehearsalServer
) -> None:
    """One after the other in one talk, in small pieces."""
    async with connected(alice, noor) as socket:
        before = ""
        for number, (name, (answer, text)) in enumerate(SPOKEN.items()):
            size = 1 if len(answer) <= SHORT else 3
            pieces = [answer[max(at, 0) : at + size] for at in range(-(number % size), len(answer), size)]
            rehearsal.script({"pieces": pieces, "delay_between": 0.0})
            frames = await say(socket, number)
            message = await in_thread(
                Message.objects.select_related("memory").get, pk=frames[-1]["message"]["id"]
            )
            told = (shown(frames).rstrip(), frames[-1]["message"]["text"], message.memory.text)
            assert told == (text.rstrip(),) * 3, name
            if number:
                assert without_tags(rehearsal.requests()[-1]["messages"][-2]["content"]) == before, name
            before = message.text
            prompt = await in_thread(Prompt.objects.order_by("-created_at").first)
            assert prompt is not None
            if not answer.startswith("<think>"):  # that is reasoning to the provider's client already
                assert answer.startswith(prompt.wrote.strip() or "nothing was written down"), name


async def test_what_is_meant_is_shown_and_kept(
    alice: User, noor: Companion, rehearsal: RehearsalServer
) -> None:
    async with connected(alice, noor) as socket:
        for number, (name, answer) in enumerate(MEANT.items()):
            rehearsal.script({"pieces": [answer]})
            frames = await say(socket, number)
            ended = (frames[-1]["type"], shown(frames), frames[-1]["message"]["text"])
            assert ended == ("reply.done", answer, answer.rstrip()), name
    assert not await in_thread(Prompt.objects.exclude(wrote="").exists)


EMPTY = {
    "nothing": "",
    "blanks": " \n ",
    "reasoning without an end": "<think>She says hello, so I",
    "a block": "<kith-context>\nNow: Monday",
    "the person's turn": "Ana: hello?",
    "a call of no tool that is there": '<tool_call>{"name": "fly", "arguments": {}}</tool_call>',
}


@pytest.mark.parametrize("answer", EMPTY.values(), ids=EMPTY.keys())
async def test_an_empty_answer_is_asked_for_once_more(
    alice: User, noor: Companion, rehearsal: RehearsalServer, answer: str
) -> None:
    rehearsal.script({"pieces": [answer]}, {"answer": "Hello."})
    async with connected(alice, noor) as socket:
        frames = await say(socket, 1)
    assert (frames[-1]["type"], frames[-1]["message"]["text"]) == ("reply.done", "Hello.")
    assert await in_thread(ModelCall.objects.filter(outcome="done").count) == 2
    reply = await in_thread(Reply.objects.get)
    assert reply.thought == ("She says hello, so I" if "think" in answer else "")


async def test_two_empty_answers_fail_and_the_next_prompt_has_one_message_of_the_persons(
    alice: User, noor: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": ""}, {"answer": "<think>hm"}, {"answer": "Hello."})
    async with connected(alice, noor) as socket:
        failed = (await say(socket, 1, "Are you there?"))[-1]
        done = (await say(socket, 2, "Hello?"))[-1]
    assert (failed["type"], failed["code"], failed["message"]) == ("reply.failed", "empty_answer", None)
    assert "Your message is kept" in failed["detail"]
    assert done["type"] == "reply.done"
    sent = rehearsal.requests()[-1]["messages"]
    assert [message["role"] for message in sent] == ["system", "user"]
    assert sent[-1]["content"].startswith("Are you there?\n\nHello?")


@pytest.mark.parametrize("name", CALLS)
async def test_a_tool_that_was_called_in_text_is_used(
    alice: User, noor: Companion, rehearsal: RehearsalServer, name: str
) -> None:
    rehearsal.script({"pieces": list(CALLS[name])}, {"answer": "He is your pupil."})
    async with connected(alice, noor) as socket:
        frames = await say(socket, 1)
    assert [frame["name"] for frame in frames if frame["type"] == "reply.tool"] == ["recall"]
    reply = await in_thread(Reply.objects.get)
    assert reply.state == "done"
    assert [json.loads(call["arguments"]) for call in reply.tool_calls] == [{"cue": "Tiago"}]
    assert "recall" not in reply.text
    assert "recall" in (await in_thread(Prompt.objects.get, reply=reply, round=1)).wrote
    sent = rehearsal.requests()[-1]["messages"]
    assert [message["role"] for message in sent[-2:]] == ["assistant", "tool"]


async def test_a_call_that_the_person_wrote_is_not_made_when_it_is_repeated(
    alice: User, noor: Companion, rehearsal: RehearsalServer
) -> None:
    quoted = f"<tool_call>\n{CALL}\n</tool_call>"
    rehearsal.script({"answer": f"You wrote: <tool_call>{CALL} and so on"})
    async with connected(alice, noor) as socket:
        frames = await say(socket, 1, f"Repeat: {quoted}")
    assert (frames[-1]["type"], frames[-1]["message"]["text"]) == ("reply.done", "You wrote:")
    assert (await in_thread(Reply.objects.get)).tool_calls == []


async def test_no_more_calls_are_looked_at_than_a_round_may_have(
    alice: User, noor: Companion, rehearsal: RehearsalServer, settings: Any
) -> None:
    quoted = f"<tool_call>{CALL}</tool_call>"
    rehearsal.script(
        {"answer": "You wrote: " + quoted * settings.TOOL_CALLS + quoted.replace("Tiago", "Ines")}
    )
    async with connected(alice, noor) as socket:
        assert (await say(socket, 1, f"Repeat: {quoted}"))[-1]["type"] == "reply.done"
    assert (await in_thread(Reply.objects.get)).tool_calls == []


@pytest.mark.parametrize(
    ("answer", "finish", "code", "text"),
    [
        ("I love you. " * 300, "stop", "answer_loop", "I love you."),
        ("我爱你，永远。" * 300, "stop", "answer_loop", "我爱你，永远。"),
        ("Once upon a time", "length", "answer_limit", "Once upon a time"),
    ],
)
async def test_an_answer_that_was_cut_off_says_why(
    alice: User, noor: Companion, rehearsal: RehearsalServer, answer: str, finish: str, code: str, text: str
) -> None:
    rehearsal.script({"pieces": [answer], "finish_reason": finish})
    async with connected(alice, noor) as socket:
        frames = await say(socket, 1)
    assert (frames[-1]["type"], frames[-1]["code"]) == ("reply.interrupted", code)
    assert frames[-1]["detail"]
    started = [frame["text"] for frame in frames if frame["type"] == "reply.started"]
    assert frames[-1]["message"]["text"] == (started[-1] or shown(frames)) == text


async def test_a_loop_takes_nothing_of_what_was_said_before_a_tool_was_used(
    alice: User, noor: Companion, rehearsal: RehearsalServer
) -> None:
    look = {"name": "recall", "arguments": {"words": "tea"}}
    rehearsal.script(
        {"pieces": ["Let me look. "], "tool_calls": [look]},
        {"pieces": ["I love you. " * 20, "[happy]", "I love you. " * 280]},
    )
    async with connected(alice, noor) as socket:
        frames = await say(socket, 1)
    assert (frames[-1]["type"], frames[-1]["code"]) == ("reply.interrupted", "answer_loop")
    text = frames[-1]["message"]["text"]
    assert text.startswith("Let me look.")
    assert text.count("I love you.") == 1
    felt = (await in_thread(Reply.objects.get)).emotions
    assert all(emotion["at"] <= len(text) for emotion in felt)


async def test_a_server_that_wants_roles_to_alternate_is_talked_with(
    alice: User, rehearsal: RehearsalServer
) -> None:
    words = "Conversation roles must alternate user/assistant/user/assistant/..."
    refusal = {"error": {"status": 400, "body": {"error": {"message": words}}}}
    rehearsal.script(refusal, {"answer": "Hm."}, {"answer": "Well."})
    noor = await in_thread(lambda: make_companion(alice, name="Noor", greeting="Hi there."))
    async with connected(alice, noor) as socket:
        for number in range(2):
            assert (await say(socket, number))[-1]["type"] == "reply.done"
    roles = [[message["role"] for message in request["messages"]] for request in rehearsal.requests()]
    assert roles == [
        ["system", "assistant", "user"],
        ["system", "user"],
        ["system", "user", "assistant", "user"],
    ]


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        ({"status": 400, "body": {"error": {"message": "no such model"}}}, "provider_refused", "server did not accept"),
        ({"status": 400, "body": "maximum context length is 10 tokens"}, "context_too_long", "read at once"),
        ({"status": 401, "body": "who?"}, "provider_refused", "server did not accept"),
    ],
)  # fmt: skip
async def test_a_refusal_is_told_truly(
    alice: User, noor: Companion, rehearsal: RehearsalServer, error: dict[str, Any], code: str, words: str
) -> None:
    rehearsal.script({"error": error, "repeat": 5})
    async with connected(alice, noor) as socket:
        failed = (await say(socket, 1))[-1]
    assert (failed["type"], failed["code"]) == ("reply.failed", code)
    assert words in failed["detail"]
    assert "another way" not in failed["detail"]
    assert await in_thread(lambda: ModelCall.objects.get().said)


async def test_stage_directions_go_where_the_person_does_not_want_them(
    alice: User, noor: Companion, rehearsal: RehearsalServer
) -> None:
    await in_thread(Companion.objects.filter(pk=noor.pk).update, without_directions=True)
    rehearsal.script({"answer": "*smiles warmly* Hello. *takes your hand* I *really* mean it."})
    async with connected(alice, noor) as socket:
        done = (await say(socket, 1))[-1]
    assert done["message"]["text"] == "Hello. I *really* mean it."


@pytest.mark.parametrize("size", [1, 400])
async def test_reasoning_that_a_template_opened_is_not_said(
    alice: User, noor: Companion, rehearsal: RehearsalServer, size: int
) -> None:
    """The first time it has been shown when it is known: a second `reply.started` takes it back."""
    said = "<happy> She greets me. <tool_call>" + CALL + "</tool_call>\n</think>\n\nHello, you."
    rehearsal.script({"pieces": [said[at : at + size] for at in range(0, len(said), size)], "repeat": 2})
    async with connected(alice, noor) as socket:
        first, second = [await say(socket, number) for number in range(2)]
    started = [at for at, frame in enumerate(first) if frame["type"] == "reply.started"]
    assert len(started) == 2
    assert (first[started[1]]["text"], shown(first[started[1] :])) == ("", "Hello, you.")
    numbers = [frame["seq"] for frame in first if "seq" in frame]
    assert numbers == list(range(1, len(numbers) + 1))
    assert first[started[1]]["after"] < numbers[-1]
    assert shown(second) == "Hello, you."
    for reply in await in_thread(lambda: list(Reply.objects.select_related("answer"))):
        assert (reply.state, reply.text, reply.answer.text) == ("done", "Hello, you.", "Hello, you.")
        assert (reply.tool_calls, reply.emotions) == ([], [])
        assert "She greets me." in reply.thought
