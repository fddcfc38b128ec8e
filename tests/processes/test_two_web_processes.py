"""Two web processes show one companion: any of them serves any of it."""

import json
from itertools import pairwise

import pytest

from companions.models import Message
from tests.processes.house import House, eventually
from tests.processes.person import ENDINGS, Person

pytestmark = pytest.mark.processes
STORY = [*(f"{number} and " for number in range(60)), "so on."]


def test_two_sockets_on_two_processes_see_the_same_stream(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": STORY, "thought": "Let me count.", "delay_between": 0.01})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Count for me", "one")
        reply_id = here.saved("one")["reply"]["id"]
        assert there.saved("one") == here.saved("one")
        assert here.ending(reply_id)["type"] == "reply.done"
        assert there.ending(reply_id) == here.ending(reply_id)
    mine = here.all("reply.started", "reply.recalled", "reply.thought", "reply.piece", *ENDINGS)
    assert mine == there.all("reply.started", "reply.recalled", "reply.thought", "reply.piece", *ENDINGS)
    assert here.heard(reply_id) == "".join(STORY) == here.ending(reply_id)["message"]["text"]


def test_a_socket_cut_in_mid_stream_resumes_on_the_other_process(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": STORY, "delay_between": 0.02})
    with alice.socket(0) as cut:
        cut.say("Count for me", "one")
        cut.pieces(5)
        cut.cut()
    (*_, last) = cut.all("reply.piece")
    with alice.socket(1) as back:
        back.send("reply.resume", id=last["id"], after=last["seq"])
        ending = back.ending(last["id"])
    assert cut.heard(last["id"]) + back.heard(last["id"]) == "".join(STORY) == ending["message"]["text"]
    # A live piece may come before the resume is answered; those asked for come all the same.
    assert min(piece["seq"] for piece in back.all("reply.piece")) == last["seq"] + 1
    assert len(back.all(*ENDINGS)) == 1


def test_a_reply_is_stopped_through_the_other_process(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": STORY * 50, "delay_between": 0.02})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Count for me", "one")
        reply_id = there.pieces(3)[0]["id"]
        there.send("reply.stop", id=reply_id)
        ending = here.ending(reply_id, seconds=3)
        assert ending["type"] == "reply.stopped"
        assert there.ending(reply_id) == ending
    assert ending["message"]["text"] == here.heard(reply_id) == there.heard(reply_id)


def test_an_event_stream_gives_the_same_events_as_a_socket(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": STORY, "thought": "Hm.", "delay_between": 0.005})
    with alice.socket(1) as there:
        asked = {
            "json": {"text": "Count for me", "client_id": "one"},
            "headers": {"Accept": "text/event-stream"},
        }
        with alice.api(0).stream("POST", f"{alice.path}/messages", **asked) as response:
            assert response.status_code == 201
            events = [json.loads(line[6:]) for line in response.iter_lines() if line.startswith("data: ")]
        there.ending(events[-1]["id"])
    assert events == there.frames


def test_a_message_posted_without_waiting_is_answered_all_the_same(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": ["Good ", "evening."], "delay": 0.2})
    posted = alice.api(0).post(f"{alice.path}/messages?wait=0", json={"text": "Hello"}).json()
    assert posted["reply"]["state"] in {"queued", "thinking"}
    address = f"replies/{posted['reply']['id']}"
    eventually(lambda: alice.api(1).get(address).json()["state"] == "done")
    assert alice.api(1).get(address).json()["text"] == "Good evening."


def test_messages_sent_quickly_over_two_processes_are_answered_one_by_one_in_order(
    house: House, alice: Person
) -> None:
    house.rehearsal.script(*({"answer": f"Answer {number}", "delay": 0.1} for number in range(6)))
    with alice.socket(0) as here, alice.socket(1) as there:
        for number in range(6):
            socket = (here, there)[number % 2]
            socket.say(f"Message {number}", f"{number}")
            socket.saved(f"{number}")
        here.wait(lambda: len(here.all("reply.done")) == 6)
    replies = list(house.replies(alice))
    assert [reply.message.text for reply in replies] == [f"Message {number}" for number in range(6)]
    assert [reply.text for reply in replies] == [f"Answer {number}" for number in range(6)]
    for earlier, later in pairwise(replies):
        assert earlier.ended_at <= later.started_at
    history = alice.api().get(f"{alice.path}/messages").json()["items"]
    said = [text for number in range(6) for text in (f"Message {number}", f"Answer {number}")]
    assert [message["text"] for message in history][::-1] == said
    assert house.rows(Message).filter(companion_id=alice.companion_id).count() == 12


def test_messages_sent_at_once_over_two_processes_all_stand_in_the_history(
    house: House, alice: Person
) -> None:
    house.rehearsal.script(*({"answer": f"Answer {number}"} for number in range(12)))
    with alice.socket(0) as here, alice.socket(1) as there:
        for number in range(12):
            (here, there)[number % 2].say(f"Message {number}", f"{number}")
        here.wait(lambda: len(here.all("reply.done")) == 12)
        assert not here.all("error") + there.all("error")
    texts = [message["text"] for message in alice.api().get(f"{alice.path}/messages").json()["items"]]
    assert sorted(texts) == sorted(
        f"{kind} {number}" for kind in ("Message", "Answer") for number in range(12)
    )
    replies = list(house.replies(alice))
    assert texts[::-1] == [text for reply in replies for text in (reply.message.text, reply.text)]
    for earlier, later in pairwise(replies):
        assert earlier.ended_at <= later.started_at
