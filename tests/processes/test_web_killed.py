"""A web process that ends in mid-answer, killed or told to: nothing said is lost, and talk goes on."""

import signal

import pytest

from accounts.models import ModelCall
from companions.models import Message, Reply
from tests.processes.house import House, eventually, kill
from tests.processes.person import Person

pytestmark = pytest.mark.processes
TALE = [f"{number} then " for number in range(400)]


def test_an_answer_cut_by_a_kill_is_kept_and_talk_goes_on(house: House, alice: Person, bob: Person) -> None:
    house.rehearsal.script(
        {"pieces": TALE, "delay": 60, "when": "Think well"},
        {"pieces": TALE, "delay_between": 0.02, "thought": "A long one."},
    )
    with bob.socket(1) as there, alice.socket(0) as cut:
        bob.api(0).post(f"{bob.path}/messages?wait=0", json={"text": "Think well"})
        silent_id = there.first("reply.recalled")["id"]
        cut.say("Tell me a tale", "one")
        reply_id = cut.saved("one")["reply"]["id"]
        cut.say("And then?", "two")
        second_id = cut.saved("two")["reply"]["id"]
        cut.pieces(20)
        kill(house.webs[0])
        cut.wait(lambda: not cut.is_open)
        silent = there.ending(silent_id)
        assert (silent["type"], silent["message"]) == ("reply.interrupted", None)
    heard = cut.heard(reply_id)
    last = cut.all("reply.piece")[-1]["seq"]
    house.rehearsal.script({"answer": "The second answer."})
    house.start()

    with alice.socket(0) as back:
        back.send("reply.resume", id=reply_id, after=last)
        ending = back.ending(reply_id)
        assert ending["type"] == "reply.interrupted"
        kept = ending["message"]["text"]
        assert kept == heard + back.heard(reply_id)
        assert "".join(TALE).startswith(kept)
        back.say("Tell me a tale", "one")
        assert back.saved("one")["reply"]["id"] == reply_id
        eventually(lambda: house.rows(Reply).get(pk=second_id).state == "done")
    assert [message.text for message in house.messages(alice) if message.role == "user"] == [
        "Tell me a tale",
        "And then?",
    ]
    first, second = house.replies(alice)
    assert (first.state, first.text, first.thought) == ("interrupted", kept, "A long one.")
    assert second.text == "The second answer."
    assert first.ended_at <= second.started_at
    assert house.rows(ModelCall).get(reply=first).outcome == "interrupted"

    with bob.socket(0) as late:
        late.send("reply.resume", id=silent_id, after=0)
        assert late.ending(silent_id) == silent
    house.rehearsal.script({"pieces": ["and it ", "ended."]}, {"answer": "Another tale."})
    with alice.socket(1) as there:
        more = alice.api().post(f"replies/{reply_id}/continue").json()["id"]
        ending = there.ending(more)
        assert (ending["type"], ending["message"]["text"]) == ("reply.done", f"{kept}and it ended.")
        assert there.heard(more) == ending["message"]["text"]
        again = alice.api().post(f"replies/{reply_id}/retry").json()["id"]
        assert there.ending(again)["message"]["text"] == "Another tale."
    first.refresh_from_db()
    assert house.rows(Message).filter(companion_id=alice.companion_id, text__startswith=kept).count() == 1


def test_a_web_process_told_to_end_finishes_the_short_interrupts_the_long_and_leaves_what_waits_to_another(
    house: House, alice: Person, bob: Person
) -> None:
    house.rehearsal.script(
        {"pieces": TALE, "delay_between": 0.02, "when": "a tale"},
        {"pieces": TALE[:20], "delay_between": 0.02, "when": "a word"},
        {"answer": "The second answer.", "when": "And then?"},
    )
    with alice.socket(0) as here, alice.socket(1) as there, bob.socket(0) as near, bob.socket(1) as far:
        here.say("Tell me a tale", "one")
        here.say("And then?", "two")
        long_id, second_id = here.saved("one")["reply"]["id"], here.saved("two")["reply"]["id"]
        there.pieces(10)
        near.say("Tell me a word", "one")
        short_id = far.pieces(1)[0]["id"]
        web = house.webs[0].process
        assert web
        web.send_signal(signal.SIGTERM)
        short, long = far.ending(short_id), there.ending(long_id)
        assert (short["type"], short["message"]["text"]) == ("reply.done", "".join(TALE[:20]).rstrip())
        assert (long["type"], long["message"]["text"]) == ("reply.interrupted", there.heard(long_id))
        assert there.ending(second_id)["message"]["text"] == "The second answer."
        assert web.wait(15) in {0, -signal.SIGTERM}
    first, second = house.replies(alice)
    assert first.text == there.heard(long_id)
    assert first.ended_at <= second.started_at


def test_a_frozen_web_process_adds_nothing_to_a_reply_that_was_taken_over(
    house: House, alice: Person
) -> None:
    house.rehearsal.script({"pieces": TALE, "delay_between": 0.02})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Tell me a tale", "one")
        reply_id = there.pieces(10)[0]["id"]
        web = house.webs[0].process
        assert web
        web.send_signal(signal.SIGSTOP)
        try:
            ending = there.ending(reply_id)
        finally:
            web.send_signal(signal.SIGCONT)
        assert here.ending(reply_id) == ending
        eventually(lambda: house.rehearsal.ledger()[-1]["state"] == "left")
    assert ending["type"] == "reply.interrupted"
    assert ending["message"]["text"] == there.heard(reply_id) == house.rows(Reply).get(pk=reply_id).text
    assert len(there.all("reply.interrupted", "reply.done")) == 1
    assert there.frames[-1] == ending
