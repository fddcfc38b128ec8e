"""Talking through the API: waiting for the answer, following it as an event stream, reading history."""

import asyncio
import uuid
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.utils import timezone

from accounts.models import User
from companions.deletion import delete_companion
from companions.models import Companion, Message, Reply
from companions.pasts.log_import import Line, import_log
from companions.replies.following import SILENCE_SECONDS
from jobs.background import in_thread
from tests.fixtures.rehearsal import RehearsalServer
from tests.fixtures.rest import Api, problem

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("web")]


async def events_of(response: Any) -> list[dict[str, Any]]:
    """The events of a server-sent stream, each with its name checked against its type."""
    body = b"".join([part async for part in response.streaming_content]).decode()
    events = []
    for event in body.strip().split("\n\n"):
        name, data = event.split("\n", 1)
        events.append(orjson.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    return events


async def test_the_answer_is_waited_for(as_alice: Api, mira: Companion, rehearsal: RehearsalServer) -> None:
    rehearsal.script({"answer": "Of course."})
    response = await as_alice.apost(
        f"/companions/{mira.pk}/messages", {"text": "Will you help?", "client_id": "a"}
    )
    assert response.status_code == 201
    turn = response.json()
    assert (turn["message"]["text"], turn["message"]["client_id"]) == ("Will you help?", "a")
    assert (turn["reply"]["state"], turn["reply"]["text"], turn["reply"]["recalled"]) == (
        "done",
        "Of course.",
        [],
    )


async def test_nobody_waits_longer_than_asked(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "Late.", "delay": 1.0})
    response = await as_alice.apost(f"/companions/{mira.pk}/messages?wait=0", {"text": "Quick?"})
    assert response.json()["reply"]["state"] in ("queued", "thinking")


async def test_a_companion_deleted_meanwhile_answers_no_more(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "Late.", "delay": 3.0})
    waiting = asyncio.create_task(as_alice.apost(f"/companions/{mira.pk}/messages", {"text": "Quick?"}))
    while not await Reply.objects.filter(state="thinking").aexists():
        await asyncio.sleep(0.02)
    await in_thread(delete_companion, mira)
    problem(await waiting, 404, "not_found")


async def test_the_same_message_again_gives_the_same_turn(as_alice: Api, mira: Companion) -> None:
    body = {"text": "Hello", "client_id": "a"}
    first = (await as_alice.apost(f"/companions/{mira.pk}/messages", body)).json()
    again = (await as_alice.apost(f"/companions/{mira.pk}/messages", body)).json()
    assert first == again
    other = await as_alice.apost(f"/companions/{mira.pk}/messages", {"text": "Other", "client_id": "a"})
    problem(other, 409, "client_id_taken")


async def test_the_same_message_again_quotes_the_same(as_alice: Api, mira: Companion) -> None:
    path = f"/companions/{mira.pk}/messages"
    said = (await as_alice.apost(path, {"text": "Hello"})).json()["message"]["id"]
    other = (await as_alice.apost(path, {"text": "And hello"})).json()["message"]["id"]
    body = {"text": "Well?", "client_id": "b", "quoted": said}
    first = (await as_alice.apost(path, body)).json()
    assert (await as_alice.apost(path, body)).json() == first
    problem(await as_alice.apost(path, {**body, "quoted": other}), 409, "client_id_taken")
    deleted = str(uuid.uuid4())
    assert (await as_alice.apost(path, {**body, "quoted": deleted})).json() == first


async def test_an_event_stream_gives_what_the_socket_gives(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["One, ", "two."]})
    path = f"/companions/{mira.pk}/messages"
    response = await as_alice.apost(path, {"text": "Count", "client_id": "a"}, Accept="text/event-stream")
    assert response["Content-Type"].startswith("text/event-stream")
    events = await events_of(response)
    assert [event["type"] for event in events][:3] == ["message.saved", "reply.started", "reply.recalled"]
    assert "".join(event["text"] for event in events if event["type"] == "reply.piece") == "One, two."
    assert events[-1]["type"] == "reply.done"
    again = await as_alice.apost(path, {"text": "Count", "client_id": "a"}, Accept="text/event-stream")
    assert (await events_of(again))[1:] == events[1:]


async def test_an_event_stream_is_never_silent_for_long(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    """Proxies close connections that are: nginx after a minute. An answer may wait longer for the one before it."""
    rehearsal.script({"pieces": ["Slow"] * 8, "delay_between": SILENCE_SECONDS / 6}, {"answer": "Quick."})
    path = f"/companions/{mira.pk}/messages"
    await as_alice.apost(f"{path}?wait=0", {"text": "First"})
    response = await as_alice.apost(path, {"text": "Second"}, Accept="text/event-stream")
    pieces = [piece async for piece in response.streaming_content]
    assert b":\n\n" in pieces
    assert pieces[-1].startswith(b"event: reply.done")


async def test_no_line_of_an_event_stream_ends_within_an_event(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    words = "one\rtwo\x85three\u2028four\u2029five"
    rehearsal.script({"answer": words})
    path = f"/companions/{mira.pk}/messages"
    response = await as_alice.apost(path, {"text": words}, Accept="text/event-stream")
    lines = b"".join([piece async for piece in response.streaming_content]).decode().splitlines()
    assert all(line.startswith(("event: ", "data: ")) for line in lines if line)
    saved = orjson.loads(lines[1].removeprefix("data: "))
    assert saved["message"]["text"] == words


async def test_a_stream_to_anothers_companion_is_a_404_before_the_first_byte(
    as_alice: Api, tian: Companion
) -> None:
    path = f"/companions/{tian.pk}/messages"
    response = await as_alice.apost(path, {"text": "Hi"}, Accept="text/event-stream")
    problem(response, 404, "not_found")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_message"),
        (" \n\t", "empty_message"),
        ("x" * 100_000, "message_too_long"),
        ("a\x00b", "bad_text"),
    ],
    ids=["empty", "blank", "100,000 characters", "NUL"],
)
async def test_a_bad_message_is_refused_and_nothing_kept(
    as_alice: Api, mira: Companion, text: str, code: str
) -> None:
    problem(await as_alice.apost(f"/companions/{mira.pk}/messages", {"text": text}), 422, code)
    assert not await in_thread(Message.objects.exists)


async def test_too_many_messages_are_refused_with_a_time(as_alice: Api, alice: User, mira: Companion) -> None:
    alice.messages_per_minute = 1
    await in_thread(alice.save)
    path = f"/companions/{mira.pk}/messages?wait=0"
    assert (await as_alice.apost(path, {"text": "One"})).status_code == 201
    refused = await as_alice.apost(path, {"text": "Two"})
    problem(refused, 429, "too_many_messages")
    assert int(refused["Retry-After"]) > 0


async def test_the_history_comes_page_by_page(as_alice: Api, mira: Companion) -> None:
    at = timezone.now()  # imported, for nothing is to be answered meanwhile
    lines = [Line(role="user", text=f"Message {n}", at=at + timedelta(seconds=n)) for n in range(5)]
    await in_thread(import_log, mira, lines, at)
    pages, cursor = [], ""
    while cursor is not None:
        page = (await in_thread(as_alice.get, f"/companions/{mira.pk}/messages?limit=2{cursor}")).json()
        pages.append([one["text"] for one in page["items"]])
        cursor = f"&cursor={page['next']}" if page["next"] else None
    assert pages == [["Message 4", "Message 3"], ["Message 2", "Message 1"], ["Message 0"]]


async def test_the_history_tells_which_answer_was_cut_off_until_it_has_gone_on(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"pieces": ["Once upon a time"], "finish_reason": "length"}, {"answer": ", the end."})
    path = f"/companions/{mira.pk}/messages"
    reply = (await as_alice.apost(path, {"text": "A tale"})).json()["reply"]

    async def history() -> list[tuple[str, Any]]:
        items = (await in_thread(as_alice.get, path)).json()["items"]
        return [(message["text"], message["ended_early"]) for message in items]

    cut = {"id": reply["id"], "state": "interrupted", "code": "answer_limit"}
    assert await history() == [("Once upon a time", cut), ("A tale", None)]
    again = await as_alice.apost(f"/replies/{reply['id']}/continue")
    await until_ended(as_alice, again.json()["id"])
    assert await history() == [("Once upon a time, the end.", None), ("A tale", None)]


async def test_retry_makes_another_branch_and_stop_of_an_ended_reply_is_refused(
    as_alice: Api, mira: Companion, rehearsal: RehearsalServer
) -> None:
    rehearsal.script({"answer": "First."}, {"answer": "Second."})
    turn = (await as_alice.apost(f"/companions/{mira.pk}/messages", {"text": "Say something"})).json()
    reply_path = f"/replies/{turn['reply']['id']}"
    problem(await as_alice.apost(f"{reply_path}/stop"), 409, "reply_ended")
    problem(await as_alice.apost(f"{reply_path}/continue"), 409, "reply_complete")
    again = await as_alice.apost(f"{reply_path}/retry")
    assert again.status_code == 201
    await until_ended(as_alice, again.json()["id"])
    items = (await in_thread(as_alice.get, f"/companions/{mira.pk}/messages")).json()["items"]
    assert [one["text"] for one in items] == ["Second.", "Say something"]
    problem(await as_alice.apost(f"/replies/{uuid.uuid4()}/retry"), 404, "not_found")


async def until_ended(api: Api, reply_id: str) -> dict[str, Any]:
    import asyncio

    for _ in range(100):
        reply = (await in_thread(api.get, f"/replies/{reply_id}")).json()
        if reply["state"] not in ("queued", "thinking", "streaming"):
            return reply
        await asyncio.sleep(0.05)
    raise AssertionError(f"still {reply['state']}")
