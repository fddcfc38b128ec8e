"""Every call of the model stands in ModelCall with the tokens that the model's own server counted."""

import pytest

from accounts.models import ModelCall
from tests.processes.house import House, eventually
from tests.processes.person import Person

pytestmark = pytest.mark.processes
TALK = [
    "Good evening!",
    "Please remember that my sister Ana lives in Porto.",
    "我妹妹住在波尔图,她喜欢喝茶。",
    "What did I tell you about my sister?",
    "Think about it.",
    "Look it up and keep it.",
    "Tell me something long.",
]


def test_every_model_call_of_a_run_is_counted_as_the_server_counted_it(house: House, alice: Person) -> None:
    look = {"name": "recall", "arguments": {"cue": "sister", "count": 3}}
    keep = {"name": "remember", "arguments": {"text": "Ana lives in Porto."}}
    house.rehearsal.script(
        {"thought": "They want me to think. 想一想。", "answer": "I have thought.", "when": "Think about it"},
        {"tool_calls": [look, keep], "thought": "I will look.", "when": "Look it up"},
        {"answer": "Kept.", "when": "Look it up"},
        {"pieces": [f"{number} sheep, " for number in range(200)], "when": "something long"},
        {"error": {"status": 503, "body": "busy"}, "when": "Are you busy?"},
        {"pieces": [f"{number}. " for number in range(400)], "delay_between": 0.01, "when": "Stop me"},
    )
    with alice.socket(0) as here, alice.socket(1) as there:
        for number, text in enumerate([*TALK, "Are you busy?", "Stop me"]):
            socket = (here, there)[number % 2]
            socket.say(text, str(number))
            reply_id = socket.saved(str(number))["reply"]["id"]
            if text == "Stop me":
                socket.pieces(5, reply_id)
                socket.send("reply.stop", id=reply_id)
            socket.ending(reply_id)
    calls = house.rows(ModelCall).filter(companion_id=alice.companion_id)
    # What is asked in the background meanwhile is counted as well, in whatever order it comes and goes.
    eventually(lambda: calls.exclude(outcome="running").count() == len(house.rehearsal.ledger()))
    ledger = house.rehearsal.ledger()
    whole = [call for call in ledger if call["state"] == "done"]
    done = calls.filter(outcome="done")
    assert len(done) >= len(TALK) + 2
    assert sorted(
        (c.prompt_tokens, c.completion_tokens, c.cached_tokens, c.is_estimated) for c in done
    ) == sorted((c["prompt_tokens"], c["completion_tokens"], c["cached_tokens"], False) for c in whole)
    assert calls.get(outcome="unavailable").said == "busy"
    stopped, (left,) = calls.get(outcome="stopped"), [call for call in ledger if call["state"] == "left"]
    assert stopped.is_estimated
    assert stopped.prompt_tokens == left["prompt_tokens"]
    assert 0 < stopped.completion_tokens <= left["completion_tokens"]
