import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from openai import OpenAI
from openai.types.chat import ChatCompletionMessage

from providers.sound import encode_wav
from providers.tokens import estimate_messages
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.sound import hum

PERSONA = {"role": "system", "content": "You are Mira, a marine biologist who likes puns."}
REMEMBERED = [
    '[Tue 3 Nov] Alice said: "My exam in botany is on Friday."',
    '[Wed 4 Nov] You said: "I find \\"otters\\" funny."',
    '[Fri 7 Feb 2025] Alice said: "My brother plays the cello in Ghent"',
    '[Thu 1 Oct] Alice said: "我妹妹在杭州开了一家茶馆"',
    '[Thu 19 Nov] Alice said: "What does my brother play?"',
]


def context(*lines: str) -> str:
    listed = "\n".join(f"- {line}" for line in lines)
    now = "Now: Friday 20 November 2026, 21:49 (Europe/Berlin)\nThey last wrote: 2 days ago."
    return f"\n\n<kith-context>\n{now}\nRemembered:\n{listed}\n</kith-context>"


def tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


@pytest.fixture(scope="module")
def sdk(server: RehearsalServer) -> Iterator[OpenAI]:
    with OpenAI(base_url=server.url, api_key="none", max_retries=0) as client:
        yield client


def said(
    sdk: OpenAI, question: str, *, before: list[Any] | None = None, **more: Any
) -> ChatCompletionMessage:
    messages = [PERSONA, *(before or []), {"role": "user", "content": question}, *more.pop("after", [])]
    return sdk.chat.completions.create(model="rehearsal", messages=messages, **more).choices[0].message


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When is my botany exam?", ["3 November", "My exam in botany is on Friday."]),
        ("What instrument does my brother play?", ["7 February 2025", "cello in Ghent"]),
        ("What did you say about otters?", ["I told you", 'I find "otters" funny.']),
        ("我妹妹在哪里开茶馆?", ["10月1日", "你告诉过我", "杭州"]),
    ],
)
def test_it_answers_from_what_is_remembered(sdk: OpenAI, question: str, expected: list[str]) -> None:
    answer = said(sdk, question + context(*REMEMBERED)).content or ""
    assert all(part in answer for part in expected), answer


def test_it_tells_nothing_that_has_no_word_in_common(sdk: OpenAI) -> None:
    answer = said(sdk, "The bakery burned down yesterday." + context(*REMEMBERED)).content or ""
    assert "remember" not in answer
    assert "yesterday" in answer or "bakery" in answer


def test_it_answers_from_the_history_where_nothing_is_remembered(sdk: OpenAI) -> None:
    before = [
        {"role": "user", "content": "Our ferry to Oban leaves at six." + context()},
        {"role": "assistant", "content": "Safe travels!"},
    ]
    assert "leaves at six" in (said(sdk, "When does the ferry leave?", before=before).content or "")


def test_notes_of_a_card_are_nothing_that_the_person_said(sdk: OpenAI) -> None:
    note = "<kith-persona>\nThe lamp must burn.\n</kith-persona>\n\n"
    asked = "I have been learning to juggle."
    assert said(sdk, note + asked + context()).content == said(sdk, asked + context()).content


def test_it_knows_its_persona_and_greets(sdk: OpenAI) -> None:
    assert "Mira" in (said(sdk, "What is your name?").content or "")
    assert "Hello" in (said(sdk, "Good evening!" + context()).content or "")


def test_it_answers_the_same_to_the_same(sdk: OpenAI) -> None:
    asked = "I have been learning to juggle." + context(*REMEMBERED)
    assert said(sdk, asked).content == said(sdk, asked).content


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Remember that Tom is allergic to nuts.", "Tom is allergic to nuts"),
        ("It was fun. Please remember that we meet on the 5th!", "we meet on the 5th"),
        ("Can you remember that my shoe size is 41?", "my shoe size is 41"),
        ("记住我对花生过敏。", "我对花生过敏"),
        ("请记得,我的航班是周三", "我的航班是周三"),
    ],
)
def test_it_remembers_by_tool_when_plainly_asked(sdk: OpenAI, question: str, text: str) -> None:
    tools = [tool("remember"), tool("recall")]
    calls = said(sdk, question + context(*REMEMBERED), tools=tools).tool_calls
    assert calls
    assert [(call.function.name, json.loads(call.function.arguments)) for call in calls] == [
        ("remember", {"text": text})
    ]


@pytest.mark.parametrize(
    "question", ["Do you remember that day in Rome?", "I remember that well", "你还记得我吗?"]
)
def test_a_question_about_remembering_is_no_order(sdk: OpenAI, question: str) -> None:
    assert not said(sdk, question + context(*REMEMBERED), tools=[tool("remember")]).tool_calls


def test_it_calls_no_tool_that_is_not_offered(sdk: OpenAI) -> None:
    message = said(sdk, "Remember that Tom is allergic to nuts." + context())
    assert message.content
    assert not message.tool_calls


def test_it_looks_in_memory_when_nothing_was_remembered(sdk: OpenAI) -> None:
    calls = said(sdk, "What did I tell you about Ghent?" + context(), tools=[tool("recall")]).tool_calls
    assert calls
    assert json.loads(calls[0].function.arguments) == {
        "words": "What did I tell you about Ghent?",
        "count": 5,
    }
    assert not said(sdk, "What did I say?" + context(*REMEMBERED), tools=[tool("recall")]).tool_calls


@pytest.mark.parametrize(
    "result",
    [
        "\n".join(f"- {line}" for line in REMEMBERED),
        json.dumps({"remembered": [{"when": "2025-02-07", "text": "My brother plays the cello in Ghent"}]}),
    ],
)
def test_it_answers_with_what_a_tool_gave(sdk: OpenAI, result: str) -> None:
    question = "Do you remember what my brother plays?"
    call = said(sdk, question + context(), tools=[tool("recall")]).tool_calls
    assert call
    after = [
        {"role": "assistant", "content": None, "tool_calls": [call[0].model_dump()]},
        {"role": "tool", "tool_call_id": call[0].id, "content": result},
    ]
    answer = said(sdk, question + context(), tools=[tool("recall")], after=after)
    assert "cello in Ghent" in (answer.content or "")
    assert not answer.tool_calls


def test_it_says_what_it_has_noted(sdk: OpenAI) -> None:
    question = "Remember that Tom is allergic to nuts."
    call = said(sdk, question, tools=[tool("remember")]).tool_calls
    assert call
    after = [
        {"role": "assistant", "content": None, "tool_calls": [call[0].model_dump()]},
        {"role": "tool", "tool_call_id": call[0].id, "content": "Kept."},
    ]
    assert "Tom is allergic to nuts" in (
        said(sdk, question, tools=[tool("remember")], after=after).content or ""
    )


def test_its_answer_is_the_same_streamed_or_whole(sdk: OpenAI) -> None:
    asked: list[Any] = [{"role": "user", "content": "我妹妹在哪里开茶馆?" + context(*REMEMBERED)}]
    stream = sdk.chat.completions.create(model="rehearsal", messages=asked, stream=True)
    pieces = [chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices]
    whole = sdk.chat.completions.create(model="rehearsal", messages=asked)
    assert "".join(pieces) == whole.choices[0].message.content
    assert len(pieces) > 6
    assert whole.usage
    assert whole.usage.prompt_tokens == estimate_messages(asked)


def test_it_goes_on_where_it_was_cut_off(sdk: OpenAI) -> None:
    asked = "When is my botany exam?" + context(*REMEMBERED)
    whole = said(sdk, asked).content or ""
    before = [{"role": "user", "content": asked}, {"role": "assistant", "content": whole[:17]}]
    assert (
        said(sdk, "Go on from exactly where you were cut off. Repeat nothing.", before=before).content
        == whole[17:]
    )


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("I am so happy and proud!", "<emotion happy 0.4>"),
        ("我今天很难过。", "<emotion sad 0.3>"),
        ("Hello!", "<emotion curious 0.4>"),
    ],
)
def test_it_tells_what_it_feels_where_the_rules_ask_for_it(sdk: OpenAI, question: str, told: str) -> None:
    asking = {"role": "system", "content": f"{PERSONA['content']} Tell it as <emotion happy 0.6>."}
    messages: Any = [asking, {"role": "user", "content": question}]
    answer = sdk.chat.completions.create(model="rehearsal", messages=messages).choices[0].message.content
    assert answer == f"{told}{said(sdk, question).content}"


def test_embeddings_are_alike_where_words_are_shared(sdk: OpenAI) -> None:
    texts = ["My sister keeps bees", "sister and bees", "Invoices are due"]
    rows = [row.embedding for row in sdk.embeddings.create(model="m", input=texts, dimensions=64).data]
    likeness = [sum(a * b for a, b in zip(rows[0], row, strict=True)) for row in rows]
    assert [len(row) for row in rows] == [64, 64, 64]
    assert likeness[0] == pytest.approx(1, abs=1e-5)
    assert likeness[1] > 0.6 > 0.4 > likeness[2]


def test_models_are_listed(sdk: OpenAI) -> None:
    assert "rehearsal" in [model.id for model in sdk.models.list()]


def test_a_step_is_kept_for_the_question_that_it_is_meant_for(
    rehearsal: RehearsalServer, sdk: OpenAI
) -> None:
    rehearsal.script({"answer": "For Bob.", "when": "bob-7"}, {"answer": "For Alice.", "when": "alice-3"})
    assert said(sdk, "alice-3 asks").content == "For Alice."
    assert "For" not in (said(sdk, "somebody asks about lunch").content or "")
    assert said(sdk, "bob-7 asks").content == "For Bob."


def test_an_unknown_step_is_refused_by_name(rehearsal: RehearsalServer) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        rehearsal.script({"anwser": "x"})
    assert b"anwser" in caught.value.read()


def test_malformed_requests_are_refused(rehearsal: RehearsalServer) -> None:
    for body in (b"{", b"[]", b'{"messages": 3}', b'{"messages": ["x"]}'):
        request = urllib.request.Request(f"{rehearsal.url}/chat/completions", data=body)
        with pytest.raises(urllib.error.HTTPError) as caught:
            urllib.request.urlopen(request)
        assert caught.value.code == 400


def test_ordinary_use_has_no_control_and_ends_when_told() -> None:
    command = [sys.executable, "-m", "providers.rehearsal", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    url = process.stdout.readline().split()[-1].removesuffix("/v1")
    assert json.load(urllib.request.urlopen(f"{url}/health")) == {"status": "ok"}
    sdk = OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0)
    hello: Any = [{"role": "user", "content": "Hello!"}]
    whole = sdk.chat.completions.create(model="rehearsal", messages=hello).choices[0].message.content
    streamed = sdk.chat.completions.create(model="rehearsal", messages=hello, stream=True)
    assert whole == "".join(chunk.choices[0].delta.content or "" for chunk in streamed if chunk.choices)
    assert sdk.audio.speech.create(model="rehearsal", voice="rehearsal", input="Hello!").content
    sent: Any = ("speech.wav", encode_wav(hum(1.0)))
    heard = sdk.audio.transcriptions.create(model="rehearsal", file=sent).text
    assert heard == "This is a rehearsal: nobody has listened to what you said."
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(f"{url}/control/ledger")
    assert caught.value.code == 404
    process.send_signal(signal.SIGTERM)
    assert process.wait(timeout=60) == 0
    process.stdout.close()
