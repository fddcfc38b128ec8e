"""A web process that ends in mid-answer, killed or told to: nothing said is lost, and talk goes on."""

import signal

import pytest

from accounts.models import ModelCall
from companions.models import Message, Reply
from tests.processes.house import House, eventually, kill
from tests.processes.person import Person

pytestmark = pytest.mark.processes
TALE = [f"{number} then " for number in range(400)]


def test_an_answer_cut_by_a_kill_is_kept_and_talk_goes_on(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": TALE, "delay_between": 0.02, "thought": "A long one."})
    with alice.socket(0) as cut:
        cut.say("Tell me a tale", "one")
        reply_id = cut.saved("one")["reply"]["id"]
        cut.say("And then?", "two")
        second_id = cut.saved("two")["reply"]["id"]
        cut.pieces(20)
        kill(house.webs[0])
        cut.wait(lambda: not cut.is_open)
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


def test_an_answer_killed_before_its_first_piece_ends_interrupted_for_whoever_resumes(
    house: House, alice: Person
) -> None:
    house.rehearsal.script({"pieces": TALE, "delay_before": 30})
    with alice.socket(0) as cut:
        cut.say("Tell me a tale", "one")
        reply_id = cut.first("reply.recalled")["id"]
        kill(house.webs[0])
    with alice.socket(1) as there:
        ending = there.ending(reply_id)
        assert (ending["type"], ending["message"]) == ("reply.interrupted", None)
    with alice.socket(1) as late:
        late.send("reply.resume", id=reply_id, after=0)
        assert late.ending(reply_id) == ending
    house.rehearsal.reset()
    house.rehearsal.script({"answer": "Once upon a time."})
    with alice.socket(1) as there:
        again = alice.api(1).post(f"replies/{reply_id}/retry").json()["id"]
        assert there.ending(again)["message"]["text"] == "Once upon a time."


def test_a_web_process_told_to_end_leaves_its_answer_interrupted_and_what_waits_to_another(
    house: House, alice: Person
) -> None:
    house.rehearsal.script({"pieces": TALE, "delay_between": 0.02}, {"answer": "The second answer."})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Tell me a tale", "one")
        here.say("And then?", "two")
        reply_id, second_id = here.saved("one")["reply"]["id"], here.saved("two")["reply"]["id"]
        there.pieces(10)
        web = house.webs[0].process
        assert web
        web.send_signal(signal.SIGTERM)
        ending = there.ending(reply_id)
        assert ending["type"] == "reply.interrupted"
        assert ending["message"]["text"] == there.heard(reply_id)
        assert there.ending(second_id)["message"]["text"] == "The second answer."
        assert web.wait(15) in {0, -signal.SIGTERM}
    first, second = house.replies(alice)
    assert first.text == there.heard(reply_id)
    assert first.ended_at <= second.started_at


def test_a_web_process_told_to_end_lets_a_short_answer_finish(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": TALE[:20], "delay_between": 0.02})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Tell me a short tale", "one")
        reply_id = there.pieces(3)[0]["id"]
        web = house.webs[0].process
        assert web
        web.send_signal(signal.SIGTERM)
        ending = there.ending(reply_id)
        web.wait(15)
    assert (ending["type"], ending["message"]["text"]) == ("reply.done", "".join(TALE[:20]))


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
