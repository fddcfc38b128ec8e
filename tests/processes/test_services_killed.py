"""Redis and Postgres killed, emptied or away while people talk, and the model gone."""

import pytest
import redis

from companions.models import Reply
from tests.processes.house import House, eventually, kill
from tests.processes.person import ENDINGS, Person, Socket

pytestmark = pytest.mark.processes
TALE = [*(f"{number} then " for number in range(150)), "the end."]


def assert_kept(house: House, alice: Person, socket: Socket, reply_id: str) -> None:
    """The message is there once; the reply ended with its text, and the socket heard all of it."""
    ending = socket.ending(reply_id)
    (reply,) = house.replies(alice)
    assert [message.text for message in house.messages(alice)] == ["Tell me a tale", reply.text]
    assert reply.state in {"done", "interrupted"}
    assert reply.text in "".join(TALE)
    assert reply.text == ending["message"]["text"] == socket.heard(reply_id)
    assert len(socket.all(*ENDINGS)) == 1


def assert_goes_on(house: House, alice: Person, number: int = 0) -> None:
    house.rehearsal.script({"answer": "And so it goes on."})
    with alice.socket(number) as socket:
        socket.say("Go on", "later")
        reply_id = socket.saved("later")["reply"]["id"]
        assert socket.ending(reply_id)["message"]["text"] == "And so it goes on."


def test_redis_killed_while_an_answer_streams(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": TALE, "delay_between": 0.01})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Tell me a tale", "one")
        reply_id = there.pieces(20)[0]["id"]
        kill(house.services.redis)
        assert house.health() == {**house.health(1), "code": 503, "status": "down"}
        house.services.start()
        assert_kept(house, alice, here, reply_id)
        assert_kept(house, alice, there, reply_id)
        assert_goes_on(house, alice, 1)
        assert here.first("message.saved", seconds=5)
    eventually(lambda: house.health()["code"] == 200)


def test_a_message_sent_while_redis_is_away_is_kept_and_answered(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": TALE[-50:], "delay_between": 0.01})
    with alice.socket(0) as here:
        kill(house.services.redis)
        here.say("Tell me a tale", "one")
        reply_id = here.saved("one")["reply"]["id"]
        eventually(lambda: house.rows(Reply).get(pk=reply_id).state == "streaming")
        house.services.start()
        assert_kept(house, alice, here, reply_id)


def test_a_socket_opened_while_redis_is_away_hears_the_other_process_once_it_is_back(
    house: House, alice: Person
) -> None:
    kill(house.services.redis)
    with alice.socket(0) as here, alice.socket(1) as there:
        house.services.start()
        with house.redis() as client:
            eventually(lambda: _listeners(client) == 2)
        here.say("Are you there?", "one")
        assert there.saved("one")["message"]["text"] == "Are you there?"
        assert there.ending(here.saved("one")["reply"]["id"])["type"] == "reply.done"


def _listeners(client: redis.Redis) -> int:
    """How many processes listen to events."""
    return sum(count for _, count in client.pubsub_numsub(*client.pubsub_channels("kith*:events")))


def test_redis_emptied_while_an_answer_streams(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": TALE, "delay_between": 0.01})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Tell me a tale", "one")
        piece = there.pieces(20)[-1]
        with house.redis() as client:
            client.flushall()
        with alice.socket(1) as back:
            back.send("reply.resume", id=piece["id"], after=piece["seq"])
            there.ending(piece["id"])
            assert back.ending(piece["id"]) == there.ending(piece["id"])
        assert_kept(house, alice, here, piece["id"])
        assert_kept(house, alice, there, piece["id"])


def test_postgres_killed_while_an_answer_streams(house: House, alice: Person) -> None:
    house.rehearsal.script({"pieces": TALE, "delay_between": 0.01})
    with alice.socket(0) as here, alice.socket(1) as there:
        here.say("Tell me a tale", "one")
        reply_id = there.pieces(20)[0]["id"]
        kill(house.services.postgres)
        here.say("Is anybody there?", "away")
        health = house.health()
        assert (health["code"], health["status"], health["checks"]["database"]) == (503, "down", "down")
        assert health["checks"]["redis"] == "ok"
        refused = here.first("error", seconds=30)
        assert (refused["code"], refused["client_id"]) == ("database_away", "away")
        house.services.start()
        assert_kept(house, alice, here, reply_id)
        assert_kept(house, alice, there, reply_id)
    eventually(lambda: house.health()["code"] == 200)
    for number in (0, 1):
        assert_goes_on(house, house.person(), number)


def test_with_the_model_gone_the_message_is_kept_and_retry_works(house: House, alice: Person) -> None:
    house.rehearsal.stop()
    try:
        with alice.socket(0) as here:
            here.say("Are you there?", "one")
            reply_id = here.saved("one")["reply"]["id"]
            failed = here.ending(reply_id)
        assert (failed["type"], failed["code"], failed["message"]) == (
            "reply.failed",
            "provider_unavailable",
            None,
        )
        eventually(lambda: house.health()["checks"]["chat"] == "degraded")
    finally:
        house.rehearsal.start()
    house.rehearsal.script({"answer": "Here I am."})
    with alice.socket(1) as there:
        again = alice.api().post(f"replies/{reply_id}/retry").json()["id"]
        assert there.ending(again)["message"]["text"] == "Here I am."
    assert [message.text for message in house.messages(alice)] == ["Are you there?", "Here I am."]


def test_what_a_model_says_that_no_database_can_keep_does_not_stop_the_talk(
    house: House, alice: Person
) -> None:
    said = [r"No\u0000", "thing ", r"\ud83d", "is lost."]
    deltas = [f'data: {{"choices": [{{"index": 0, "delta": {{"content": "{text}"}}}}]}}\n\n' for text in said]
    house.rehearsal.script({"events": [*deltas, "data: [DONE]\n\n"]})
    with alice.socket(0) as here:
        here.say("What is nothing?", "one")
        reply_id = here.saved("one")["reply"]["id"]
        assert here.ending(reply_id)["message"]["text"] == "Nothing \ufffdis lost." == here.heard(reply_id)
    assert_goes_on(house, alice)
